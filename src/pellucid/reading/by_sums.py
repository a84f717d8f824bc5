"""Interventions answered by models that are sums over their features.

Definition. On the scale of its link g, a linear or additive model (see `pellucid.models.linear`) predicts

    g(f(x)) = b + sum_j f_j(x_j).

An intervention that sets the features S to values z therefore asks, in row i, for

    f(z_S, x_i without S) = g^-1( r_i + sum_{j in S} f_j(z_j) ),    r_i = b + sum_{j not in S} f_j(x_ij).

Estimator. The rows are encoded once, and so are the values that the features are set to; a prediction is then an
addition and the inverse of the link. r_i is added up without the features of the intervention, and not taken out of the
whole sum, where a large f_j(x_ij) would swallow the others.

When it misleads: as much as the reading of the model. It is believed only if the sums give the model's own predictions
of the rows that were asked when the Explainer was made (up to rounding, as a share of their range), and, in every
question, if the parts of some mixtures depend on their own features alone.

Cost. No model rows; two numbers per row, feature and sum, and one for each intervention, are held meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.models.linear import LinearForm, Link, Unlike, declares_sum, predictions
from pellucid.reading.additive import read_additive
from pellucid.reading.answer import Answer, watched
from pellucid.reading.terms import Encoder, Terms, terms_of
from pellucid.runner import Batch, Intervention, Run
from pellucid.runner.intervention import blocks
from pellucid.stats import Moments

_ENCODING = 1.5  # what it takes to encode a row, in rows predicted
_LARGEST = 700.0  # the exponential of more overflows: the model says so itself


def by_sums(
    run: Run, predictor: Predictor, data: Data, interventions: tuple[Intervention, ...], full: bool
) -> SumAnswer | None:
    """The answer of the sum; None where the model is none, or fails on these rows, or where asking is as quick."""
    if predictor.instability > 0 or _is_label(predictor):
        return None
    if not declares_sum(predictor.model) and _gain(data, interventions) < run.limits.worth_sums:
        return None
    found = read_additive(run, predictor)
    if isinstance(found, Unlike) or not found.exact or _held(data, interventions, found.form) > run.limits.sums_held:
        return None
    itself = Intervention((), (), np.empty((1, 0), dtype=np.intp))
    terms = terms_of(Encoder(found.form, predictor, found.tables), data, (itself, *interventions))
    if terms is None or (found.link == "log" and max(map(Terms.highest, terms)) > _LARGEST):
        return None
    return SumAnswer(run, predictor, data, interventions, full, terms[1:], terms[0].rest, found.link)


def _is_label(predictor: Predictor) -> bool:
    """Whether classes are predicted: where all probabilities are near 0 or 1, they look the same."""
    return predictor.verb == "predict" and hasattr(predictor.model, "classes_")


def _held(data: Data, interventions: Sequence[Intervention], form: LinearForm) -> int:
    """How many terms are held at once: of every feature, the sums up to it, and the rest for every intervention."""
    features = {j for intervention in interventions for j in intervention.features}
    rows = 2 * len(features) * len(data) + sum(intervention.n_rows(data) for intervention in interventions)
    return rows * form.weights.shape[1]


def _gain(data: Data, interventions: Sequence[Intervention]) -> float:
    """How many rows fewer are predicted than if the model were asked."""
    asked = sum(intervention.variants * intervention.n_rows(data) for intervention in interventions)
    pools = (len(pool) for intervention in interventions for pool in intervention.pools if not intervention.exchanged)
    encoded = len(data) + max(pools, default=0)
    return asked - _ENCODING * encoded


@dataclass(frozen=True, eq=False)
class SumAnswer(Answer):
    """Predictions from the terms of the sums."""

    terms: tuple[Terms, ...]
    whole: FloatArray
    link: Link

    engine = "sums"

    def only(self, intervention: int) -> SumAnswer:
        return replace(self, interventions=(self.interventions[intervention],), terms=(self.terms[intervention],))

    def itself(self) -> FloatArray:
        return self._predictions(self.whole[None])[0]

    def stream(self, *, partial: bool = False) -> Iterator[Batch]:
        return watched(self.run, self._batches(), partial=partial)

    def _batches(self) -> Iterator[Batch]:
        at_once = self.run.limits.sums_at_once
        self.run.plan(
            sum(intervention.variants * intervention.n_rows(self.data) for intervention in self.interventions)
        )
        for s, (intervention, terms) in enumerate(zip(self.interventions, self.terms, strict=True)):
            for rows in blocks(len(terms.rest), at_once):
                n = rows.stop - rows.start
                for variants in intervention.chunks(max(1, at_once // n)):
                    made = self._predictions(terms.sums(intervention, variants, rows))
                    yield Batch(s, variants, rows, made)
                    self.run.advance(n * (variants.stop - variants.start))

    def tables(self, *, partial: bool = False) -> Iterable[FloatArray]:
        """One after the other, and those that are small in one go."""
        for s, (intervention, terms) in enumerate(zip(self.interventions, self.terms, strict=True)):
            if intervention.variants * intervention.n_rows(self.data) <= self.run.limits.sums_at_once:
                yield self._predictions(terms.sums(intervention, slice(None), slice(None)))
            else:
                yield from Answer.tables(self.only(s), partial=partial)

    def averaged(self, kept: IntArray) -> list[tuple[Moments, FloatArray]]:
        """Without a link, curves along the same values differ in their heights alone."""
        if self.link != "identity" or self.predictor.link != "identity":
            return super().averaged(kept)
        found = []
        for s, (intervention, terms) in enumerate(zip(self.interventions, self.terms, strict=True)):
            columns = intervention.columns(slice(None), slice(None)).values()
            if intervention.rows is None and all(index.shape[1] == 1 for _, index in columns):
                found.append(self._parallel(intervention, terms, kept))
            else:
                found += Answer.averaged(self.only(s), kept)
        return found

    def _parallel(self, intervention: Intervention, terms: Terms, kept: IntArray) -> tuple[Moments, FloatArray]:
        steps = replace(terms, rest=np.zeros((1, terms.rest.shape[1]))).sums(intervention, slice(None), slice(0, 1))
        heights, along = self._predictions(terms.rest[None]), self._predictions(steps)
        one = Moments(1, heights.shape[2])
        one.add(slice(0, 1), heights, self.data.weights)
        return one.shifted(along[:, 0]), heights[:, kept] + along

    def _predictions(self, sums: FloatArray) -> FloatArray:
        full = predictions(sums.reshape(-1, sums.shape[2]), self.link, self.predictor.width)
        assert full is not None, "a link that agrees has the width of the predictions"
        made = full if self.full else self.predictor.restrict(full)
        return made.reshape(*sums.shape[:2], made.shape[1])  # there may be no rows
