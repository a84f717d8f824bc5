"""Sweeps answered by models that are sums over their features.

Definition. On the scale of its link g, a linear or additive model (see `pellucid.models.linear`) predicts

    g(f(x)) = b + sum_j f_j(x_j).

A sweep that sets the features S to values z therefore asks, in row i, for

    f(z_S, x_i without S) = g^-1( r_i + sum_{j in S} f_j(z_j) ),    r_i = b + sum_{j not in S} f_j(x_ij).

Estimator. The rows are encoded once, and so are the values that the features are set to; a prediction is then an
addition and the inverse of the link. r_i is added up without the features of the sweep, and not taken out of the whole
sum, where a large f_j(x_ij) would swallow the others.

When it misleads: as much as the reading of the model. It is believed only if the sums give the model's own predictions of
the rows that were asked when the Explainer was made, and, in every question, if the parts of some mixtures depend on
their own features alone.

Cost. No model rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.answers.answer import Answer, watched
from pellucid.answers.terms import Encoder, Tables, Terms, terms_of
from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.models.linear import LinearForm, Link, Unlike, agreeing_link, linear_form, predictions
from pellucid.runner import Batch, Moments, Run, Sweep
from pellucid.runner.sweep import blocks

_WORTH = 15_000  # rows asked beyond those encoded: fewer are asked as quickly
_ENCODING = 1.5  # what it takes to encode a row, in rows predicted
_AT_ONCE = 2**16  # predictions made at once, so that they stay in the caches
_LARGEST = 700.0  # the exponential of more overflows: the model says so itself


@dataclass(frozen=True, eq=False)
class _Read:
    """A model as a sum, the link by which the sum agrees with its predictions (none where it does not), and encoded tables."""

    model: Any
    form: LinearForm
    link: Link | Unlike
    tables: Tables

    @classmethod
    def of(cls, predictor: Predictor, form: LinearForm) -> _Read:
        """Compared with the predictions that are known of the model."""
        link: Link | Unlike
        try:
            sums = form.sums(form.encode(predictor.dressed(predictor.probe)))
            link = agreeing_link(form, sums, predictor.probed)
        except Exception as reason:  # whatever a step raises
            link = Unlike(str(reason))
        return cls(predictor.model, form, link, Tables())

    def holds(self, predictor: Predictor, form: LinearForm) -> bool:
        """Whether this is what is read now: a model may have been fitted again."""
        mine, now = self.form, form
        return (
            self.model is predictor.model
            and np.array_equal(mine.weights, now.weights)
            and np.array_equal(mine.intercept, now.intercept)
        )


def read_sums(
    run: Run, predictor: Predictor, data: Data, sweeps: tuple[Sweep, ...], full: bool
) -> Sums | None:
    """The answer of the sum; None where the model is none, or fails on these rows, or where asking is as quick."""
    if predictor.instability > 0 or not _worth(data, sweeps):
        return None
    form = linear_form(predictor)
    if isinstance(form, Unlike):
        return None
    found: _Read = run.remember("sums", lambda: _Read.of(predictor, form))
    found = found if found.holds(predictor, form) else _Read.of(predictor, form)
    if isinstance(found.link, Unlike):
        return None
    itself = Sweep((), (), np.empty((1, 0), dtype=np.intp))
    terms = terms_of(Encoder(found.form, predictor, found.tables), data, (itself, *sweeps))
    if terms is None or (found.link == "log" and max(map(Terms.highest, terms)) > _LARGEST):
        return None
    return Sums(run, predictor, data, sweeps, full, terms[1:], terms[0].rest, found.link)


def _worth(data: Data, sweeps: Sequence[Sweep]) -> bool:
    asked = sum(sweep.variants * sweep.n_rows(data) for sweep in sweeps)
    pools = (len(pool) for sweep in sweeps for pool in sweep.pools if not sweep.exchanged)
    encoded = len(data) + max(pools, default=0)
    return asked - _ENCODING * encoded >= _WORTH


@dataclass(frozen=True, eq=False)
class Sums(Answer):
    """Predictions from the terms of the sums."""

    terms: tuple[Terms, ...]
    whole: FloatArray
    link: Link

    engine = "sums"

    def only(self, sweep: int) -> Sums:
        return replace(self, sweeps=(self.sweeps[sweep],), terms=(self.terms[sweep],))

    def itself(self) -> FloatArray:
        return self._predictions(self.whole[None])[0]

    def stream(self, *, partial: bool = False) -> Iterator[Batch]:
        return watched(self.run, self._batches(), partial=partial)

    def _batches(self) -> Iterator[Batch]:
        self.run.plan(sum(sweep.variants * sweep.n_rows(self.data) for sweep in self.sweeps))
        for s, (sweep, terms) in enumerate(zip(self.sweeps, self.terms, strict=True)):
            for rows in blocks(len(terms.rest), _AT_ONCE):
                n = rows.stop - rows.start
                for variants in sweep.chunks(max(1, _AT_ONCE // n)):
                    made = self._predictions(terms.sums(sweep, variants, rows))
                    yield Batch(s, variants, rows, made)
                    self.run.advance(n * (variants.stop - variants.start))

    def tables(self, *, partial: bool = False) -> Iterable[FloatArray]:
        """One after the other, and those that are small in one go."""
        for s, (sweep, terms) in enumerate(zip(self.sweeps, self.terms, strict=True)):
            if sweep.variants * sweep.n_rows(self.data) <= _AT_ONCE:
                yield self._predictions(terms.sums(sweep, slice(None), slice(None)))
            else:
                yield from Answer.tables(self.only(s), partial=partial)

    def averaged(self, kept: IntArray) -> list[tuple[Moments, FloatArray]]:
        """Without a link, curves along the same values differ in their heights alone."""
        if self.link != "identity" or self.predictor.link != "identity":
            return super().averaged(kept)
        found = []
        for s, (sweep, terms) in enumerate(zip(self.sweeps, self.terms, strict=True)):
            columns = sweep.columns(slice(None), slice(None)).values()
            if sweep.rows is None and all(index.shape[1] == 1 for _, index in columns):
                found.append(self._parallel(sweep, terms, kept))
            else:
                found += Answer.averaged(self.only(s), kept)
        return found

    def _parallel(self, sweep: Sweep, terms: Terms, kept: IntArray) -> tuple[Moments, FloatArray]:
        steps = replace(terms, rest=np.zeros((1, terms.rest.shape[1]))).sums(
            sweep, slice(None), slice(0, 1)
        )
        heights, along = self._predictions(terms.rest[None]), self._predictions(steps)
        one = Moments(1, heights.shape[2])
        one.add(slice(0, 1), heights, self.data.weights)
        return one.shifted(along[:, 0]), heights[:, kept] + along

    def _predictions(self, sums: FloatArray) -> FloatArray:
        full = predictions(sums.reshape(-1, sums.shape[2]), self.link, self.predictor.width)
        assert full is not None, "a link that agrees has the width of the predictions"
        made = full if self.full else self.predictor.restrict(full)
        return made.reshape(*sums.shape[:2], -1)
