"""Glass boxes that are sums of terms, and what can be read off the terms at once.

Definition. On the scale of its link g a model predicts

    g(f(x)) = b_0 + sum_j f_j(x_j) + sum over some pairs of f_jk(x_j, x_k).

With the mean of each term over the training rows, m_j, everything below follows:

- effect of a feature:         f_j(x) - m_j
- contribution in a row:       f_j(x_j) - m_j;  base:  b_0 + sum_j m_j  (without pairs these are the Shapley values of
  the marginal game whose background are the training rows)
- importance:                  standard deviation of f_j over the training rows

When it misleads. (1) A term is what the value adds with all other features as they are; of correlated features one can
stand in for the other. (2) Behind a link (log-odds, logarithms) equal terms are not equal changes of the prediction.
(3) Feature and pair share what both could explain: see the model for how it shares.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import is_whole
from pellucid.explanations import Attribution, Caveat, Effect, Importance
from pellucid.explanations.attribution import Entries
from pellucid.explanations.effect import AtMissing
from pellucid.explanations.explanation import Header, squeeze_outputs
from pellucid.glassbox.base import GlassBox, Training, caller, known_codes, labels_of, one_row
from pellucid.methods.effects.estimation.effect import shapes
from pellucid.models.linear import Link, TermSum
from pellucid.runner import Cost
from pellucid.stats import interval, weighted_mean
from pellucid.words import value_name

SCALES: dict[Link, str] = {"identity": "response", "logit": "log-odds", "softmax": "score"}  # others: by their name


class SumOfTerms(GlassBox):
    """A glass box that adds up terms of one feature each, and of some pairs of features.

    A model gives `_term` and `_intercept`, `_pair_term` where it has pairs, and `_term_error` where it knows how
    uncertain its terms are; its ``fit`` ends with `_remember`.
    """

    _link: Link = "identity"
    _pairs: tuple[tuple[int, int], ...] = ()
    _game = "marginal"  # whose Shapley values contributions are, without pairs
    _said = "terms"  # what contributions are called
    _intercept: FloatArray  # (outputs,)
    _means: FloatArray  # (features and pairs, outputs): mean of each term over the training rows
    _sizes: FloatArray  # the same of their standard deviations

    @abstractmethod
    def _term(self, j: int, codes: FloatArray) -> FloatArray:
        """What values of feature ``j`` add to the sums, ``(n, outputs)``."""

    def _pair_term(self, k: int, first: FloatArray, second: FloatArray) -> FloatArray:
        """What values of both features of pair ``k`` add besides."""
        raise NotImplementedError

    def _term_error(self, j: int, codes: FloatArray) -> FloatArray:  # noqa: ARG002  a model that knows them needs it
        """Standard errors of a term less its mean, ``(n, outputs)``; not a number where they are not known."""
        return np.full((len(codes), len(self._intercept)), np.nan)

    def _importance_error(self) -> FloatArray:
        """Standard errors of the importances."""
        return np.full(self._sizes.shape, np.nan)

    @property
    def _reference(self) -> FloatArray:
        """What terms are compared with where they are shown: their means over the training rows."""
        return self._means

    def _caveats(self) -> tuple[Caveat, ...]:
        """What is known against the model on its training rows."""
        return ()

    def _remember(self, training: Training) -> None:
        """Mean and standard deviation of every term over the training rows."""
        means, sizes = [], []
        for k in range(self.n_features_in_ + len(self._pairs)):
            term = self._part(k, training.codes)
            mean = weighted_mean(term, training.weights)
            means.append(mean)
            sizes.append(np.sqrt(weighted_mean(np.square(term - mean), training.weights)))
        self._means, self._sizes = np.array(means), np.array(sizes)

    def _part(self, k: int, codes: FloatArray) -> FloatArray:
        """Term ``k``, features first and then pairs, of rows of codes."""
        if k < self.n_features_in_:
            return self._term(k, codes[:, k])
        i, j = self._pairs[k - self.n_features_in_]
        return self._pair_term(k - self.n_features_in_, codes[:, i], codes[:, j])

    def _sums(self, codes: FloatArray) -> FloatArray:
        """The sums of rows of codes, ``(n, outputs)``."""
        total = np.tile(self._intercept, (len(codes), 1))
        for k in range(self.n_features_in_ + len(self._pairs)):
            total += self._part(k, codes)
        return total

    def term_sum(self) -> TermSum | str:
        """The model as a sum of functions of one feature, for what reads models; why not, where it has pairs."""
        if self._pairs:
            return "it has terms of two features"
        terms = tuple(partial(self._term, j) for j in range(self.n_features_in_))
        return TermSum(self._design, terms, self._intercept, self._link)

    # -- explaining ----------------------------------------------------------------------------------

    def explain(self, what: Any = None) -> Importance | Effect | Attribution:
        """What the model is made of, without asking it.

        Nothing: the importance of the terms. A feature, by name or position, or a pair of them: its effect. Rows, as a
        table or an array: what each term contributes to their predictions, on the scale on which the terms add up.
        """
        if what is None:
            return self._importance()
        features = self._asked(what)
        return self._contributions(what) if features is None else self._effect(features)

    def _asked(self, what: Any) -> tuple[int, ...] | None:
        """Positions of the features that are meant; None where rows are."""
        several = isinstance(what, tuple) and all(isinstance(each, str) or is_whole(each) for each in what)
        if isinstance(what, str) or is_whole(what) or several:
            self._design_known()
            return self._schema.indices(what)
        return None

    def _design_known(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "_schema")

    @property
    def _term_names(self) -> tuple[str, ...]:
        pairs = (f"{self._names[i]} x {self._names[j]}" for i, j in self._pairs)
        return (*self._names, *pairs)

    @property
    def _members(self) -> tuple[tuple[str, ...], ...]:
        pairs = ((self._names[i], self._names[j]) for i, j in self._pairs)
        return (*((name,) for name in self._names), *pairs)

    def _header(self, settings: dict[str, Any], **fields: Any) -> Header:
        return Header(
            scale=SCALES.get(self._link, f"{self._link.replace('_', ' ')} of the prediction"),
            cost=Cost(0, 0.0, 0, 0.0),
            settings={"model": type(self).__name__, **settings},
            classes=tuple(str(label) for label in getattr(self, "classes_", ())),
            **{
                "output_names": self._output_names,
                "feature_names": self._term_names,
                "caveats": self._caveats(),
                **fields,
            },
        )

    def _importance(self) -> Importance:
        """The standard deviation of every term over the training rows, with its interval."""
        self._design_known()
        values, se = self._sizes, self._importance_error()
        low, high = interval(values, np.where(np.isnan(se), 0.0, se), least=0.0)
        return Importance(
            method="terms",
            measure="standard deviation of the term",
            compare="difference",
            values=squeeze_outputs(values),
            se=squeeze_outputs(np.where(np.isnan(se), 0.0, se)),
            low=squeeze_outputs(low),
            high=squeeze_outputs(high),
            repeats=np.empty((len(values), 0)),
            members=self._members,
            header=self._header({"method": "terms"}),
        )

    def _effect(self, features: tuple[int, ...]) -> Effect:
        """The terms of one feature or of two, less their means, over what was seen of them."""
        seen = [self._seen[j] for j in features]
        described = [self._schema.features[j] for j in features]
        points = tuple(each.points for each in seen)
        values, se = self._surface(features, points)
        low, high = interval(values, se)
        counts = seen[0].counts if len(seen) == 1 else np.outer(seen[0].counts, seen[1].counts) / seen[1].counts.sum()
        return Effect(
            method="term",
            values=squeeze_outputs(values),
            se=squeeze_outputs(se),
            average=squeeze_outputs(values),
            low=squeeze_outputs(low),
            high=squeeze_outputs(high),
            counts=counts,
            spread=squeeze_outputs(np.zeros(values.shape)),
            kinds=tuple(feature.kind for feature in described),
            grids=tuple(feature.decode(codes) for feature, codes in zip(described, points, strict=True)),
            rug=self._rug(features),
            shape=shapes(described, points, values, counts),
            level=np.full(values.shape[-1], np.nan),
            missing=self._at_missing(features),
            header=self._header(
                {"method": "term", "features": [self._names[j] for j in features]},
                feature_names=tuple(self._names[j] for j in features),
            ),
        )

    def _surface(self, features: tuple[int, ...], points: tuple[FloatArray, ...]) -> tuple[FloatArray, FloatArray]:
        """Values and standard errors over the grid, outputs last; of two features the two terms and their pair's."""
        terms = [self._term(j, codes) - self._reference[j] for j, codes in zip(features, points, strict=True)]
        if len(features) == 1:
            return terms[0], self._term_error(features[0], points[0])
        values = terms[0][:, None] + terms[1][None, :]
        for k, pair in enumerate(self._pairs):
            if set(pair) == set(features):
                first, second = np.meshgrid(*points, indexing="ij")
                codes = (first, second) if pair == features else (second, first)
                found = self._pair_term(k, codes[0].ravel(), codes[1].ravel()).reshape(values.shape)
                values = values + found - self._reference[self.n_features_in_ + k]
        return values, np.full(values.shape, np.nan)

    def _rug(self, features: tuple[int, ...]) -> tuple[Any, ...]:
        n = min(len(self._seen[j].rug) for j in features)
        return tuple(self._schema.features[j].decode(self._seen[j].rug[:n]) for j in features)

    def _at_missing(self, features: tuple[int, ...]) -> AtMissing | None:
        if len(features) > 1 or self._seen[features[0]].share == 0.0:
            return None
        (j,), missing = features, np.array([np.nan])
        value, se = self._term(j, missing) - self._reference[j], self._term_error(j, missing)
        return AtMissing(squeeze_outputs(value)[0], squeeze_outputs(se)[0], self._seen[j].share)

    def _contributions(self, rows: Any) -> Attribution:
        """What every term adds in each row, compared with its mean."""
        table = one_row(rows)
        codes = self._design(table)
        parts = np.stack([self._part(k, codes) for k in range(len(self._means))], axis=1) - self._reference
        base = self._intercept + self._reference.sum(axis=0)
        return Attribution(
            method="linear",
            game=self._game,
            values=squeeze_outputs(parts),
            se=squeeze_outputs(np.zeros(parts.shape)),
            base=squeeze_outputs(base),
            prediction=squeeze_outputs(base + parts.sum(axis=1)),
            entries=Entries(self._cells(codes), self._members),
            header=self._header({"method": self._said}, library=caller(rows), row_labels=labels_of(self, table, rows)),
        )

    def _cells(self, codes: FloatArray) -> tuple[Any, ...]:
        """The values of every term's features in each row; of a pair both, in words."""
        own = [feature.decode(known_codes(feature, codes[:, j])) for j, feature in enumerate(self._schema.features)]
        pairs = [
            np.array([f"{value_name(a)}, {value_name(b)}" for a, b in zip(own[i], own[j], strict=True)], dtype=object)
            for i, j in self._pairs
        ]
        return (*own, *pairs)
