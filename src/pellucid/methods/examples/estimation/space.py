"""The space in which rows are alike: what they are compared by, the kernel and its width, and the average of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import positive, whole
from pellucid.data import Data
from pellucid.data.embedding import embedded, standardised
from pellucid.data.similarity import (
    Cells,
    Columns,
    KernelName,
    Leaves,
    Points,
    Remembered,
    Rows,
    Similarity,
    usual_width,
    width_rows,
)
from pellucid.errors import InputError
from pellucid.methods.attribution.shap import shap
from pellucid.models import Predictor
from pellucid.reading.trees import Refusal, read_trees
from pellucid.runner import Run

Features = Literal["raw", "contributions", "leaves"] | Callable[[Any], Any] | None
SAMPLED_FROM = 20_000  # rows, beyond which columns are sampled
_COLUMNS = 4_000
_CONTRIBUTED = 5_000  # rows whose contributions are worked out at most


@dataclass(frozen=True, eq=False)
class Space:
    """A kernel over the rows of a table, ``kappa`` (the mean kernel of each row with all) and ``spread`` (its mean).

    From sampled ``columns`` these are estimates; ``column_means`` are those of the columns over all rows.
    """

    similarity: Similarity
    weights: FloatArray
    kappa: FloatArray
    spread: float
    columns: IntArray | None = None
    column_means: FloatArray | None = None

    @cached_property
    def kernel(self) -> Columns:
        """The kernel, one column after the other."""
        return Remembered(self.similarity)

    @property
    def allowed(self) -> BoolArray:
        """Rows that count."""
        return np.asarray(self.weights > 0)

    def mmd2_error(self, chosen: IntArray, weights: FloatArray) -> float:
        """The standard error of MMD^2 that comes from sampling columns, of prototypes with weights of sum 1."""
        if self.columns is None or self.column_means is None:
            return 0.0
        each = self.column_means - 2.0 * self.similarity.block(self.columns, chosen).astype(np.float64) @ weights
        share = self.weights[self.columns] / self.weights[self.columns].sum()
        variance = float(np.sum(np.square(share * (each - share @ each))))
        return float(np.sqrt(variance * max(1.0 - len(self.columns) / len(self.kappa), 0.0)))


def rows_of(predictor: Predictor, data: Data, features: Features, kernel: KernelName, background: Any, run: Run) -> Any:
    """The rows as points, or as cells for Gower's distance."""
    if kernel == "gower":
        if features is not None:
            raise InputError("features= makes points of rows, and kernel='gower' compares their cells; leave one out.")
        return Cells(data)
    if features is None:
        return Points(standardised(data))
    if callable(features):
        return Points(embedded(features, data))
    if isinstance(features, str) and features == "raw":
        return Points(_raw(data))
    if isinstance(features, str) and features == "contributions":
        return Points(contributions(predictor, data, background, run))
    if isinstance(features, str) and features == "leaves":
        return Leaves(leaves_of(predictor, data, run, "features"))
    raise InputError(
        f"features={features!r} is not known; give a function of your table that returns one row of numbers per row,"
        " 'raw', 'contributions', 'leaves', or None."
    )


def leaves_of(predictor: Predictor, data: Data, run: Run, name: str) -> IntArray:
    """The leaf that every row ends in, ``(rows, trees)``."""
    found = read_trees(run, predictor, data)
    if isinstance(found, Refusal):
        raise InputError(f"{name}='leaves' needs a model of trees ({found.reason}); use {name}='contributions'.")
    return found.model.ensemble.leaves(found.model.encode(predictor.dressed(data.frame)))


def _raw(data: Data) -> FloatArray:
    nominal = [feature.name for feature in data.schema.features if feature.kind in ("categorical", "ordered")]
    if nominal:
        raise InputError(f"features='raw' needs numbers, and {nominal[0]!r} holds categories; leave features= out.")
    matrix = np.column_stack([data.codes(j) for j in range(len(data.schema.features))])
    lacks = np.isnan(matrix).any(axis=0)
    if lacks.any():
        raise InputError(
            f"features='raw' needs known values, and {data.schema.names[int(np.argmax(lacks))]!r} is missing in some"
            " rows; leave features= out."
        )
    return matrix


def contributions(predictor: Predictor, data: Data, background: Any, run: Run) -> FloatArray:
    """What the features of every row contribute to its prediction (Shapley values), all outputs side by side."""
    if len(data) > _CONTRIBUTED:
        raise InputError(
            f"features='contributions' explains every row, and there are {len(data):,}; give the Explainer a sample of"
            f" at most {_CONTRIBUTED:,} rows."
        )
    found = shap(predictor, data, list(range(len(data))), background=background, run=run)
    return np.asarray(found.stacked()).reshape(len(data), -1)


def space_of(
    rows: Rows, weights: FloatArray, *, kernel: Any, width: Any, groups: IntArray | None, sample: Any, run: Run
) -> Space:
    """The kernel, its width and what all rows average to."""
    columns = _columns(sample, weights, run)
    similarity = similarity_of(rows, kernel, width, groups, run)
    if columns is not None:
        kappa, per_column = similarity.sampled_means(weights, columns)
        return Space(similarity, weights, kappa, float(np.average(kappa, weights=weights)), columns, per_column)
    run.plan(len(similarity))
    kappa = similarity.means(weights, run.advance)
    run.close()
    return Space(similarity, weights, kappa, float(np.average(kappa, weights=weights)))


def similarity_of(rows: Rows, kernel: KernelName, width: Any, groups: IntArray | None, run: Run) -> Similarity:
    """A kernel with the width asked for; "auto" is the median distance of rows."""
    if isinstance(rows, Leaves):
        if kernel != "rbf" or width != "auto":
            raise InputError("features='leaves' is a kernel of its own; leave kernel= and width= out.")
        return Similarity(rows, "leaves", float("nan"), groups)
    if isinstance(width, str) and width == "auto":
        width = usual_width(rows, kernel, width_rows(len(rows), run.generator("prototypes.width")))
    return Similarity(rows, kernel, positive("width", width, also="'auto'"), groups)


def _columns(sample: Any, weights: FloatArray, run: Run) -> IntArray | None:
    """The columns from which means are taken; None where it is all of them."""
    counting = np.flatnonzero(weights > 0)
    if isinstance(sample, str) and sample == "auto":
        sample = _COLUMNS if len(counting) > SAMPLED_FROM else None
    if sample is None:
        return None
    size = whole("sample", sample, least=2, also="None or 'auto'")
    if size >= len(counting):
        return None
    return np.sort(run.generator("prototypes.columns").choice(counting, size, replace=False))
