"""LocalAttribution: a simple model that holds near a row, and what it says of the row's prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations import local_words
from pellucid.explanations.attribution import Additivity, Attribution
from pellucid.explanations.plot_options import LocalOptions
from pellucid.explanations.store import stored
from pellucid.explanations.width_search import WidthSearch
from pellucid.words import TABLE, Vocabulary

_BY_OUTPUT = ("weights", "bases", "fidelity", "selection", "stability", "agreement", "radius", "within")


@stored
@dataclass(frozen=True, eq=False)
class Boundary:
    """A row's neighbourhood in two features, the others as in the row.

    ``model`` and ``local`` (second feature, first feature) are the predictions over the two grids, ``points`` the
    samples with what the model said of them (``answers``) and how much they count (``counts``); the boundary is where
    predictions pass ``level``.
    """

    names: tuple[str, str]
    output: str
    grids: tuple[FloatArray, FloatArray]
    model: FloatArray
    local: FloatArray
    points: FloatArray
    answers: FloatArray
    counts: FloatArray
    row: FloatArray
    level: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalModel(Attribution):
    """Effects of local models, and how well these hold; what local models of rows, texts and images share.

    A local model has ``terms`` with ``weights`` (rows, terms); ``bases`` (rows), what the effects start from, and the
    effects add up to `local_prediction`. What the local model misses of the ``prediction`` is in `residual`.

    ``fidelity`` is the weighted R2 on samples that were not fitted. Over repeats, ``selection`` is the share of chosen
    terms that two have in common (the variables stability index), ``stability`` the share of weight on common terms,
    ``agreement`` how alike the weights are, each at most one. ``radius`` says how far away at least nine in ten samples
    are predicted to within ``within``. ``width`` is that of the kernel (NaN where there is none), ``effective`` how
    many samples count; ``width_search`` holds all widths that were tried.
    """

    terms: tuple[str, ...]
    weights: FloatArray
    bases: FloatArray
    fidelity: FloatArray
    selection: FloatArray
    stability: FloatArray
    agreement: FloatArray
    width: FloatArray
    effective: FloatArray
    radius: FloatArray
    within: FloatArray
    width_search: WidthSearch

    def _headline(self) -> str:
        return local_words.headline(self)

    @property
    def local_prediction(self) -> FloatArray:
        """What the local model predicts for each row."""
        return np.asarray(self.bases + self.values.sum(axis=1))

    @property
    def residual(self) -> FloatArray:
        """Prediction minus that of the local model: what it misses at the row itself."""
        return np.asarray(self.prediction - self.local_prediction)

    @property
    def _starts(self) -> FloatArray:
        return self.bases

    @property
    def additivity(self) -> Additivity:
        """Bases and effects add up to the local prediction, by definition."""
        return Additivity(0, 0.0, 0.0)

    @property
    def term_scales(self) -> FloatArray:
        """The spread of each term in the units of its weight (rows, terms): one, for what is there or not."""
        return np.ones((len(self), len(self.terms)))

    @property
    def selected(self) -> tuple[tuple[str, ...], ...]:
        """For each row the terms that have a weight (for any output), largest first."""
        sizes = np.abs(self.stacked("weights")).max(axis=2) * self.term_scales
        order = np.argsort(-sizes, axis=1, kind="stable")
        return tuple(tuple(self.terms[j] for j in line if sizes[i, j] > 0) for i, line in enumerate(order))

    def for_output(self, name: str) -> Self:
        found = super().for_output(name)
        if str(name) in self.output_names:
            return replace(found, width_search=self.width_search.for_outputs((str(name),)))
        at = 1.0 if self.scale == "probability" else 0.0  # the other of two classes: all signs change
        mirrored = self.width_search.mirrored(str(name))
        return replace(found, weights=-self.weights, bases=at - self.bases, width_search=mirrored)

    def _some(self, which: IntArray) -> Self:
        found = super()._some(which)
        return replace(
            found,
            base=np.asarray(found.bases.mean(axis=0)),
            width=self.width[which],
            effective=self.effective[which],
            width_search=self.width_search.rows(which),
        )

    def _arrays(self) -> dict[str, Any]:
        return {**super()._arrays(), **{name: getattr(self, name) for name in _BY_OUTPUT}}

    def contrast(self, other: int) -> Self:
        raise InputError(
            f"contrast({other}) compares effects of two local models, which have different neighbourhoods; use"
            f" shap(rows).contrast({other})."
        )

    def weight_of(self, j: int, i: int, k: int = 0) -> float:
        """The weight of an entry in one row, NaN for an entry that stands for several terms."""
        members = self.entries.members[j]
        if len(members) != 1 or members[0] not in self.terms:
            return float("nan")
        return float(self.stacked("weights")[i, self.terms.index(members[0]), k])


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalAttribution(LocalModel, options=LocalOptions):
    """Effects ``values`` (rows, features) of a local model of a row, with outputs last if there are several.

    A term is a column of the row's representation, its weight the change of the prediction per unit of a number (per
    day of a date), or for being in the row's category or bin; ``weights_se`` is its standard error. An effect is a
    weight times how far the row is from the average of the samples, so that effects start from what the local model
    gives for an average row; `at_zero` gives weight times value instead. ``base`` is the mean of the bases.

    ``conditions`` are the bins that a row is in, ``encoded`` (rows, terms) its values as numbers, ``scales`` (rows,
    terms) the spread of each term in the units of its weight, one for a category or bin, and ``ranges`` (rows, terms,
    2) how far each number alone may move while the local model stays within ``within``. See `LocalModel` for how well
    it holds.
    """

    weights_se: FloatArray
    conditions: tuple[tuple[str, ...], ...]
    encoded: FloatArray
    scales: FloatArray
    ranges: FloatArray
    boundary: Boundary | None = None
    zeroed: bool = False

    def _headline(self) -> str:
        return local_words.headline(self)

    @property
    def vocabulary(self) -> Vocabulary:
        if self.game:  # Shapley's kernel
            return TABLE
        return replace(
            TABLE, start="local model at zero" if self.zeroed else "local model's prediction for an average row"
        )

    @property
    def term_scales(self) -> FloatArray:
        return self.scales

    # -- parts ---------------------------------------------------------------------------------------

    def for_output(self, name: str) -> Self:
        found = super().for_output(name)
        return found if str(name) in self.output_names else replace(found, boundary=None)

    def _some(self, which: IntArray) -> Self:
        return replace(
            super()._some(which),
            boundary=self.boundary if len(self) == 1 else None,
            conditions=tuple(self.conditions[i] for i in which),
            encoded=self.encoded[which],
            scales=self.scales[which],
        )

    def _arrays(self) -> dict[str, Any]:
        return {**super()._arrays(), "weights_se": self.weights_se, "ranges": self.ranges}

    def at_zero(self) -> Self:
        """Effects as weight times value: how the local model adds up from zero.

        A number counts from zero in its own unit, a category or bin as one; the same weights, and the same local
        prediction. It depends on where a unit has its zero: degrees Celsius and Fahrenheit give different effects.
        """
        term = {name: j for j, name in enumerate(self.terms)}
        encoded = self.encoded[:, :, None]
        weights, errors = self.stacked("weights") * encoded, self.stacked("weights_se") * np.abs(encoded)
        parts = [[term[name] for name in members if name in term] for members in self.entries.members]
        effects = np.stack([weights[:, part].sum(axis=1) for part in parts], axis=1)
        se = np.stack([errors[:, part].sum(axis=1) for part in parts], axis=1)
        bases = self.stacked("local_prediction") - effects.sum(axis=1)
        shape = self.bases.shape
        return replace(
            self,
            values=effects.reshape(self.values.shape),
            se=se.reshape(self.values.shape),
            bases=bases.reshape(shape),
            base=np.asarray(bases.reshape(shape).mean(axis=0)),
            zeroed=True,
        )

    def cells_of_term(self, j: int) -> AnyArray | None:
        """The values of the explained rows in a term that is an entry of its own, None for a member of a group."""
        name = self.terms[j]
        return self.data[self.feature_names.index(name)] if name in self.feature_names else None

    # -- table and words -----------------------------------------------------------------------------

    def columns(self) -> dict[str, AnyArray]:
        """One row per explained row, feature and output, with its weight and the bin that it is in."""
        tidy = super().columns()
        n, p, m = self.stacked().shape
        weights = [self.weight_of(j, i, k) for i in range(n) for j in range(p) for k in range(m)]
        where = [self._condition(j, i) for i in range(n) for j in range(p)]
        tidy["weight"] = np.array(weights, dtype=np.float64)
        if any(where):
            tidy["bin"] = np.repeat(np.array(where, dtype=object), m)
        return tidy

    def _condition(self, j: int, i: int) -> str:
        members = self.entries.members[j]
        if len(members) != 1 or members[0] not in self.terms:
            return ""
        return self.conditions[i][self.terms.index(members[0])]

    def label(self, j: int, i: int) -> str:
        return self._condition(j, i) or super().label(j, i)

    def findings(self) -> list[str]:
        return local_words.complete(self)

    def places(self, i: int) -> IntArray:
        """Positions of the entries of a row that have an effect, largest first."""
        sizes = np.abs(self.stacked()[i]).max(axis=1)
        order = np.argsort(-sizes, kind="stable")
        return order[sizes[order] > 0]
