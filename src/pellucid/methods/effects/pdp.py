"""Partial dependence and individual conditional expectation.

Friedman 2001; Goldstein, Kapelner, Bleich and Pitkin 2015.

Definition. With S the features of interest and C the others, the partial dependence is
``PD_S(x_S) = E_{X_C} f(x_S, X_C)``, and the ICE curve of row i is ``f(x_S, x_C^(i))``.
Estimator. Set x_S to a grid value in all n rows, predict, average: ``(1/n) sum_i f(x_S, x_C^(i))``. The
partial dependence is the mean of the ICE curves. Its interval is that of a mean, corrected for the skewness of the
curves at each grid value (`stats.skewed_interval`).

When it misleads:
1. correlated features: the grid is combined with rows where that value never occurs (use ALE);
2. opposite effects in different rows cancel in the average (look at ICE);
3. parts of the grid with few or no data;
4. it describes the model, not the world.

Cost. Grid points times rows; nothing where the model is read (see `pellucid.reading`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import flag, one_of, whole
from pellucid.data import Data
from pellucid.data.grid import given_codes, grid_codes
from pellucid.diagnostics import effect_caveats
from pellucid.diagnostics.heterogeneity import best_splitter, measure
from pellucid.errors import InputError
from pellucid.explanations import AtMissing, Effect, squeeze_outputs
from pellucid.methods.effects.estimation.effect import Estimate, build_effect, grid_counts
from pellucid.models import Predictor
from pellucid.reading import Answer, answer
from pellucid.runner import Run, constant_intervention
from pellucid.stats import effective_size, skewed_interval, skewness, standard_error, weighted_mean

Kind = Literal["average", "individual", "both"]
Points = tuple[FloatArray, ...]
Chosen = tuple[int, ...]
_SAMPLE = 300  # curves that are kept of an average, to see what it hides


def pdp(
    predictor: Predictor,
    data: Data,
    features: Any,
    *,
    grid: int = 50,
    at: Any = None,
    kind: Kind = "average",
    center: Any = None,
    pure: bool = False,
    derivative: bool = False,
    rows: Any = None,
    run: Run,
) -> Effect:
    """Partial dependence (``kind="average"``) or ICE curves of one or two features."""
    chosen = data.schema.indices(features)
    grid, pure, derivative = whole("grid", grid), flag("pure", pure), flag("derivative", derivative)
    _check(data, chosen, kind, pure, derivative)
    points = resolve_grid(data, chosen, grid, at)
    over = data if rows is None else data.rows(rows)
    if not over.weights.any():  # rows asked for that count nowhere else count alike here
        over = replace(over, weights=np.ones(len(over)))
    if at is None and max(len(values) for values in points) == grid:
        run.scales_with("grid", grid, least=10, power=len(chosen))
    counts = grid_counts(data, chosen, points)
    varied = _Varied(run, predictor, over, chosen, points)
    if kind == "average" and center is None and not (pure or derivative):
        curves = varied.average()
    else:
        curves = varied.individual()
        curves = varied.pure(curves) if pure else curves
        curves = varied.centred(curves, center, counts)
        curves = _slopes(curves, points[0], data.schema.features[chosen[0]].kind) if derivative else curves
    individual = kind != "average"
    none = np.full(curves.rows.shape if individual else (), np.nan)
    values, se = (curves.rows, none) if individual else (curves.mean, curves.se)
    low, high = (none, none) if individual else curves.ends
    return build_effect(
        "ice" if kind == "individual" else "pdp",
        predictor,
        data,
        run,
        Estimate(chosen, points, values, se, low, high, curves.mean, counts, curves.sd),
        caveats=effect_caveats(
            predictor,
            data,
            over,
            run,
            chosen=chosen,
            points=points,
            counts=counts,
            curves=curves.rows,
            rows=curves.kept,
            average=not individual,
        ),
        settings={
            "grid": grid,
            "at": at,
            "kind": kind,
            "center": center,
            "pure": pure,
            "derivative": derivative,
            "rows": len(over),
            "engine": curves.engine,
        },
        missing=varied.at_missing() if center is None and not (pure or derivative) else None,
        individual=individual,
        derivative=derivative,
        interaction=measure(curves.rows).interaction if len(chosen) == 1 else np.nan,
        rows=over if individual else None,
        colouring=(
            best_splitter(over.take(curves.kept), chosen, curves.rows) if individual and len(chosen) == 1 else None
        ),
    )


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves over the grid: mean over rows, its standard error, standard deviation, the effective number of rows, and
    some or all rows.
    """

    mean: FloatArray
    se: FloatArray
    sd: FloatArray
    size: float
    rows: FloatArray
    kept: IntArray
    weights: FloatArray
    engine: str

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Of the 95% intervals of the mean, corrected for the skewness of the rows that are kept."""
        skew = skewness(self.rows, self.weights)
        return skewed_interval(self.mean, self.se, np.where(np.isfinite(skew), skew, 0.0), self.size)

    def of_rows(self, rows: FloatArray) -> Curves:
        """The same rows with transformed curves."""
        se = standard_error(rows, self.weights)
        return replace(self, rows=rows, mean=weighted_mean(rows, self.weights), se=se, sd=se * np.sqrt(self.size))


@dataclass(frozen=True, eq=False)
class _Varied:
    """The chosen features S at the points of a grid, in all rows."""

    run: Run
    predictor: Predictor
    data: Data
    chosen: Chosen
    points: Points

    def average(self) -> Curves:
        """PD_S(g) = (1/n) sum_i f(g, x_C^(i)), batch by batch; a few curves are kept to see what it hides."""
        kept = self.data.spread(_SAMPLE)
        asked = self._answer()
        ((moments, curves),) = asked.averaged(kept)
        shape = (*(len(p) for p in self.points), len(self.predictor.output_names))
        rows = np.moveaxis(curves, 1, 0).reshape(len(kept), *shape)
        mean, se, sd = (part.reshape(shape) for part in (moments.mean, moments.se, moments.sd))
        size = effective_size(self.data.weights)
        return Curves(mean, se, sd, size, rows, kept, self.data.weights[kept], asked.engine)

    def individual(self) -> Curves:
        """All ICE curves f(g, x_C^(i)), rows first."""
        asked, data = self._answer(), self.data
        rows = np.moveaxis(asked.collect(), 1, 0).reshape(len(data), *(len(p) for p in self.points), -1)
        empty = np.empty(0)
        size = effective_size(data.weights)
        curves = Curves(empty, empty, empty, size, rows, np.arange(len(data)), data.weights, asked.engine)
        return curves.of_rows(rows)

    def pure(self, curves: Curves) -> Curves:
        """Row by row f(x1,x2) - f(x1,x2_i) - f(x1_i,x2) + f(x_i), whose mean is PD_12 - PD_1 - PD_2 + f0."""
        first, second = (
            replace(self, chosen=(j,), points=(p,)).individual().rows
            for j, p in zip(self.chosen, self.points, strict=True)
        )
        itself = self.run.predict(self.predictor, self.data)
        return curves.of_rows(curves.rows - first[:, :, None] - second[:, None, :] + itself[:, None, None])

    def centred(self, curves: Curves, center: Any, counts: FloatArray) -> Curves:
        """Every curve minus its value at the anchor x^a, or minus its mean over the data."""
        if center is None:
            return curves
        axes = tuple(range(1, curves.rows.ndim - 1))
        if isinstance(center, str) and center == "mean":
            if not counts.any():
                raise InputError(
                    "center='mean' needs rows in which both features are present; give an anchor value instead."
                )
            share = counts / counts.sum()
            zero = np.tensordot(curves.rows, share, axes=(axes, tuple(range(share.ndim))))
        else:
            anchor = _anchor(self.data, self.chosen, self.points, center)
            zero = replace(self, points=anchor).individual().rows.reshape(len(curves.rows), -1)
        return curves.of_rows(curves.rows - np.expand_dims(zero, axes))

    def at_missing(self) -> AtMissing | None:
        """The average prediction when the feature is set to missing in every row, where it ever is."""
        data = self.data
        if len(self.chosen) != 1 or not data.schema.features[self.chosen[0]].missing:
            return None
        curves = replace(self, points=(np.array([np.nan]),)).individual()
        share = float(data.weights[np.isnan(data.codes(self.chosen[0]))].sum() / data.weights.sum())
        return AtMissing(np.asarray(squeeze_outputs(curves.mean)[0]), np.asarray(squeeze_outputs(curves.se)[0]), share)

    def _answer(self) -> Answer:
        intervention = constant_intervention(self.data, self.chosen, self.points)
        return answer(self.run, self.predictor, self.data, intervention)


def _anchor(data: Data, chosen: Chosen, points: Points, center: Any) -> Points:
    """Codes of the anchor: the lower end of the grid (``True`` or ``"min"``) or the given values."""
    if center is True or (isinstance(center, str) and center == "min"):
        return tuple(np.array([p.min()]) for p in points)
    given = [center] if len(chosen) == 1 else list(center)
    if len(given) != len(chosen):
        raise InputError(f"center= needs one value for each of the {len(chosen)} features.")
    return tuple(given_codes(data.schema.features[j], [value]) for j, value in zip(chosen, given, strict=True))


def _slopes(curves: Curves, points: FloatArray, kind: str) -> Curves:
    """Central differences along the grid, per unit of the feature (per day for dates)."""
    if len(points) < 2:
        raise InputError("derivative=True needs at least two grid points.")
    if (np.diff(points) <= 0).any():
        raise InputError("derivative=True needs an increasing grid; sort the values of at=.")
    unit = 86_400_000_000.0 if kind == "date" else 1.0
    return curves.of_rows(np.gradient(curves.rows, points / unit, axis=1))


def resolve_grid(data: Data, chosen: Chosen, grid: int, at: Any) -> Points:
    """Grid codes per feature, from ``at`` where given."""
    described = [data.schema.features[j] for j in chosen]
    for feature in described:
        if feature.empty:
            raise InputError(
                f"feature {feature.name!r} is missing in every row; there is no value to show an effect at."
            )
    if at is None:
        return tuple(grid_codes(feature, data.codes(j), grid) for feature, j in zip(described, chosen, strict=True))
    lists = [at] if len(chosen) == 1 else list(at)
    if len(lists) != len(chosen):
        raise InputError(f"at= needs one list of values for each of the {len(chosen)} features.")
    return tuple(given_codes(feature, values) for feature, values in zip(described, lists, strict=True))


def _check(data: Data, chosen: Chosen, kind: str, pure: bool, derivative: bool) -> None:
    one_of("kind", kind, ("average", "individual", "both"))
    if pure and len(chosen) != 2:
        raise InputError("pure=True takes the main effects out of a pair; give two features.")
    if derivative and (len(chosen) != 1 or data.schema.features[chosen[0]].nominal):
        raise InputError("derivative=True needs one numeric feature; categories have no slope.")
