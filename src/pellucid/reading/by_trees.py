"""Interventions answered by the trees of a model.

A big intervention that sets features to the same values in all rows is a family of individual curves. Where the model
is made of trees that are read exactly, these come from `pellucid.trees.partial_dependence`; what the model makes of the
sum of its trees (a probability, say) is applied curve by curve. The numbers are the same, up to rounding. The trees
answer only after they have given the model's own predictions (see `pellucid.reading.trees`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data import Data
from pellucid.data.frames.doorway import as_frame
from pellucid.models import Predictor
from pellucid.reading.answer import Answer, watched
from pellucid.reading.trees import EncodedRows, Refusal, Trees, read_trees, tree_model
from pellucid.runner import Batch, Intervention, Run
from pellucid.trees.convert import TreeModel
from pellucid.trees.plain.choice import can_compile
from pellucid.trees.predict import predictions

_USUAL = 200  # trees, of a model whose trees are not read


def by_trees(
    run: Run, predictor: Predictor, data: Data, interventions: tuple[Intervention, ...], full: bool
) -> TreeAnswer | None:
    """The answer of the trees; None where there are none, where it is not theirs, or where asking is quicker."""
    if full or len(interventions) != 1 or interventions[0].index.ndim != 2 or interventions[0].rows is not None:
        return None
    rows, worth = interventions[0].variants * len(data), run.limits.worth_trees
    model = tree_model(run, predictor, missed=rows * _USUAL >= worth)
    if isinstance(model, Refusal) or rows * len(model.ensemble.roots) < worth or not can_compile():
        return None
    trees = read_trees(run, predictor, data)
    return None if isinstance(trees, Refusal) else TreeAnswer(run, predictor, data, interventions, full, trees)


@dataclass(frozen=True, eq=False)
class TreeAnswer(Answer):
    """Curves from the trees, batches of rows with all variants."""

    read: Trees

    engine = "trees"

    @property
    def model(self) -> TreeModel:
        """The trees."""
        return self.read.model

    @property
    def intervention(self) -> Intervention:
        """The only one."""
        return self.interventions[0]

    def stream(self, *, partial: bool = False) -> Iterator[Batch]:
        return watched(self.run, self._batches(), partial=partial)

    def _batches(self) -> Iterator[Batch]:
        for rows, raw in self._curves():
            yield Batch(0, slice(0, self.intervention.variants), rows, self._predictions(raw))

    def _curves(self) -> Iterator[tuple[slice, FloatArray]]:
        from pellucid.trees.partial_dependence import curve_blocks  # on use: it loads a compiler

        columns = np.flatnonzero(self._swept())
        points = self._points()[:, columns]
        rows = EncodedRows(self.model, self.predictor, self.data.frame, self.run.limits.portion_bytes)
        return curve_blocks(self.model.ensemble, columns, points, rows, watch=self.run)

    def _swept(self) -> BoolArray:
        """Which of the columns that the trees compare are made from the features of the intervention."""
        own = np.asarray(self.predictor.columns, dtype=np.intp)[self.model.source]
        return np.isin(own, self.intervention.features)

    def _points(self) -> FloatArray:
        """Any one row, in every variant, as the trees see it."""
        n = self.intervention.variants
        row = self.data.frame.take(np.zeros(1, dtype=np.intp))
        table = row.scratch(n).fill(self.intervention.columns(slice(0, n), slice(0, 1)), n)
        return self.model.encode(self.predictor.dressed(as_frame(table, self.data.frame.names)))

    def _predictions(self, raw: FloatArray) -> FloatArray:
        """The explained outputs from the sums of the trees ``(variants, rows, sums)``."""
        flat = raw.reshape(-1, raw.shape[2])
        full = predictions(flat, self.read.link, self.predictor.width, self.predictor.raw_scale)
        assert full is not None, "other links are left to the model"
        return self.predictor.restrict(full).reshape(*raw.shape[:2], -1)
