"""Values that were sampled have errors: do these decide what a reader sees?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.general import Players
from pellucid.explanations import Attribution, Caveat, Decomposition
from pellucid.runner import Run
from pellucid.stats import Z95
from pellucid.words import listed, number, percent, quantity

TOP = 5  # contributions of a row that are read one by one
_NOTICED = 0.05  # of the row's contributions; nobody reads less
_WIDE = 0.5  # of the contribution: its size is known to a factor of 1.5 / 0.5 = 3
_ROWS = 0.9  # of the rows are at least as precise as the one that is judged
_TOP = 5
_CARRIED = 0.1  # of the variance, by ten points
_CARRIED_BY_ROWS = 0.4  # of an importance, by ten of at least a hundred rows
_WIDE_SHARE = 0.1
_NOISY = 0.02
_NOISY_CELLS = 0.5
_ROUNDING = 1e-9
_UNSTEADY = 0.5
_SIGNIFICANT = 0.05


def imprecise(result: Attribution) -> Iterator[Caveat]:
    """The intervals of sampled contributions are too wide for what a reader sees.

    Of each row (and output) the five largest contributions are looked at, those below 5% of the row's total left
    out. The worst of them, by the half width of its 95% interval as a share of the contribution, speaks for the
    row; nine rows of ten are at least as precise as the one reported. Above 1 not even the sign is known.
    Where an error is unknown (NaN) there is nothing to judge.
    """
    if not np.fmax.reduce(result.se, axis=None, initial=0.0) > 0:  # NaN: unknown
        return
    values, errors = (_by_answer(result.stacked(name)) for name in ("values", "se"))
    half = Z95 * errors
    sizes = np.abs(values)
    noticed = (_places(sizes) < TOP) & (sizes > _NOTICED * np.nansum(sizes, axis=1, keepdims=True))
    ratio = np.where(noticed & ~np.isnan(half), half, 0.0) / np.where(noticed, sizes, 1.0)
    answer = _nine_of_ten(ratio.max(axis=1))
    j = int(np.argmax(ratio[answer]))
    worst = float(ratio[answer, j])
    if worst <= _WIDE:
        return
    name, row = result.feature_names[j], answer // len(result.output_names)
    order = np.argsort(-sizes[answer], kind="stable")
    seen = [int(k) for k in order if noticed[answer, k]]
    yield Caveat(
        code="imprecise",
        message=(
            f"The contribution of {name} in row {result.row_labels.name(row)},"
            f" {quantity(float(values[answer, j]), result.scale, change=True)}, is an estimate with a 95% interval of"
            f" \u00b1{quantity(float(half[answer, j]), result.scale, change=True, sign=False)}, {percent(worst)} of it."
            + _undecided(result.feature_names, values[answer], half[answer], seen)
        ),
        value=worst,
        threshold=_WIDE,
        advice=_more(worst / _WIDE, result.cost.model_rows),
        feature=name,
    )


def _by_answer(part: FloatArray) -> FloatArray:
    """(rows, features, outputs) as one line per row and output."""
    return np.asarray(np.moveaxis(part, 2, 1).reshape(-1, part.shape[1]))


def _places(sizes: FloatArray) -> IntArray:
    """The place of each contribution in its line, from 0 for the largest; unknown ones last."""
    return np.argsort(np.argsort(-sizes, axis=1, kind="stable"), axis=1, kind="stable")


def _nine_of_ten(worst: FloatArray) -> int:
    """The line that nine of ten are at least as precise as."""
    return int(np.argsort(worst, kind="stable")[int(np.ceil(_ROWS * len(worst))) - 1])


def _undecided(names: tuple[str, ...], values: FloatArray, half: FloatArray, seen: list[int]) -> str:
    """Which signs, and which neighbours in the order of size, the intervals leave open."""
    signs = [names[j] for j in seen if half[j] >= abs(values[j])]
    pairs = [
        f"{names[j]} and {names[k]}"
        for j, k in pairwise(seen)
        if abs(values[j]) - abs(values[k]) < np.hypot(half[j], half[k])
    ]
    said = [f"the sign of {listed(signs)}"] if signs else []
    said += [f"the order of {listed(pairs, 3)}"] if pairs else []
    return f" The intervals leave open {' and '.join(said)}." if said else ""


def _more(times_too_wide: float, rows: int) -> str:
    """How much more work makes the intervals narrow enough: errors shrink with the root of the number."""
    factor = times_too_wide**2
    amount = f"{number(factor)} times as many model rows"
    amount += f" (budget={_rounded_up(factor * rows)})" if rows and np.isfinite(factor) else ""
    return (
        f"Give a larger budget= or a tolerance=: half the width takes four times the model rows, and {amount} would"
        f" bring this one to {percent(_WIDE)}."
    )


def _rounded_up(amount: float) -> int:
    """Two digits are enough of a number to type."""
    unit = 10 ** max(int(np.floor(np.log10(amount))) - 1, 0)
    return int(np.ceil(amount / unit)) * unit


def missed_tolerance(result: Attribution) -> Iterator[Caveat]:
    """Sampling ended before all intervals were as narrow as asked for."""
    wanted = result.settings.get("tolerance")
    if wanted is None:
        return
    widest = Z95 * float(result.se.max(initial=0.0))
    if widest > float(wanted):
        yield Caveat(
            code="tolerance-missed",
            message=(
                f"The tolerance of {quantity(float(wanted), result.scale, change=True, sign=False)} was not reached:"
                f" the widest 95% interval is ±{quantity(widest, result.scale, change=True, sign=False)}."
            ),
            value=widest,
            threshold=float(wanted),
            advice="Give a larger budget=, explain fewer rows, or accept a larger tolerance=.",
        )


def imprecise_importance(
    names: list[str], values: FloatArray, se: FloatArray, tolerance: float | None
) -> Iterator[Caveat]:
    """An interval is wider than was asked for, or too wide for what a reader sees.

    Of the five largest values, those below 5% of all left out, the one with the widest interval for its size is judged.
    """
    half, sizes = Z95 * se, np.abs(values)
    if tolerance is not None:
        widest = int(np.argmax(half))
        if half[widest] > tolerance:
            yield Caveat(
                code="imprecise",
                message=(
                    f"The importance of {names[widest]} is known only to within \u00b1{number(float(half[widest]))},"
                    f" not the \u00b1{number(tolerance)} asked for."
                ),
                value=float(half[widest]),
                threshold=tolerance,
                advice="Give a larger budget.",
                feature=names[widest],
            )
        return
    places = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
    noticed = (places < _TOP) & (sizes > _NOTICED * sizes.sum())
    ratio = np.where(noticed, half, 0.0) / np.where(noticed, sizes, 1.0)
    worst = int(np.argmax(ratio))
    if ratio[worst] > _WIDE:
        yield Caveat(
            code="imprecise",
            message=(
                f"The importance of {names[worst]}, {number(float(values[worst]))}, is an estimate"
                f" with a 95% interval of \u00b1{number(float(half[worst]))}, {percent(float(ratio[worst]))} of it."
            ),
            value=float(ratio[worst]),
            threshold=_WIDE,
            advice=(
                f"Give a budget about {max(2, round(float(ratio[worst] / _WIDE) ** 2))} times as large, or a"
                " tolerance=."
            ),
            feature=names[worst],
        )


def wide_intervals(
    players: Players, values: FloatArray, half: FloatArray, run: Run, tolerance: float | None
) -> Iterator[Caveat]:
    """An important feature's share is known roughly only."""
    wanted = _WIDE_SHARE if tolerance is None else tolerance
    width = np.where(np.isnan(half), 0.0, half).max(axis=-1)
    p = int(np.argmax(width))
    if len(width) and width[p] > wanted:
        name, rows = list(players)[p], run.cost().model_rows
        yield Caveat(
            code="rough-shares",
            message=(
                f"The share of {name}, {percent(float(values[p].mean()))}, is an estimate with a 95%"
                f" interval of ±{number(100 * float(width[p]))} percentage points."
            ),
            value=float(width[p]),
            threshold=wanted,
            advice=f"Raise budget= (now {rows:,} model rows).",
            feature=name,
        )


def few_points_carry(carried: float) -> Iterator[Caveat]:
    """A variance that ten of the points sampled have is that of whichever points were sampled."""
    if carried > _CARRIED:
        yield Caveat(
            code="few-carry-all",
            message=(
                f"Ten of the points sampled have {percent(carried)} of the variance: the tails decide; intervals are"
                " too narrow."
            ),
            value=carried,
            threshold=_CARRIED,
            advice="Explain the logarithm or the rank of the prediction, or raise budget=.",
        )


def few_rows_carry(name: str, carried: float) -> Iterator[Caveat]:
    """An importance that ten of the rows have is that of whichever rows were in the sample."""
    if carried > _CARRIED_BY_ROWS:
        yield Caveat(
            code="few-carry-all",
            message=(
                f"Ten of the rows have {percent(carried)} of the importance of {name}: the tails decide, where draws"
                " know least; the interval is too narrow."
            ),
            value=carried,
            threshold=_CARRIED_BY_ROWS,
            advice="Explain the logarithm or the rank of the prediction, use loss='mae', or give more rows.",
            feature=name,
        )


def noisy_shares(found: Decomposition) -> Iterator[Caveat]:
    """Shares that differ between the halves of a sample, or between many and half as many points."""
    se = found.stacked("se")
    worst = float(np.nanmax(se, initial=0.0))
    if worst > _NOISY:
        k = int(np.nanargmax(se.max(axis=-1)))
        yield Caveat(
            code="noisy-shares",
            message=(
                f"Shares are estimated from a limited number of points: that of {found.feature_names[k]} is uncertain"
                f" by {percent(worst)} of the variance."
            ),
            value=worst,
            threshold=_NOISY,
            advice=(
                "Do not rank components whose shares differ by less; fewer features (features=[...]) leave more points"
                " for each."
            ),
        )


def noisy_cells(
    data: Data, chosen: tuple[int, ...], counts: FloatArray, values: FloatArray, se: FloatArray, size: FloatArray
) -> Iterator[Caveat]:
    """Share of the rows in whose cell the effect cannot be told from zero, of the output where it is largest.

    In a cell the effect and its error are the means of those at its corners.
    """
    real = np.abs(values).max(axis=tuple(range(len(chosen)))) > _ROUNDING * size
    effect, error = (_at_cells(array, counts.shape) for array in (values, se))
    lost = np.tensordot(counts / counts.sum(), ~(np.abs(effect) >= 2 * error), axes=counts.ndim)
    share = float(np.max(lost, where=real, initial=0.0))
    if share > _NOISY_CELLS:
        name = listed([data.schema.names[j] for j in chosen])
        per_cell = len(data) * float(counts.sum() / data.weights.sum()) / counts.size
        yield Caveat(
            code="noise",
            message=(
                f"The joint effect of {name} is within twice its standard error in cells with {percent(share)} of the"
                f" rows: {counts.size} cells have {number(per_cell)} rows each on average."
            ),
            value=share,
            threshold=_NOISY_CELLS,
            advice="Read it as noise there; use fewer bins, more rows, or pairs of features.",
            feature=name,
        )


def _at_cells(array: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Values at points as values of cells: means over the corners; along levels the points are the cells."""
    for d, n in enumerate(shape):
        if array.shape[d] > n:
            array = (np.delete(array, 0, axis=d) + np.delete(array, -1, axis=d)) / 2
    return array


def unsteady_folds(names: list[str], each: FloatArray) -> Iterator[Caveat]:
    """The largest importance differs much between folds; ``each`` is ``(folds, features)``."""
    if len(each) < 2:
        return
    means = each.mean(axis=0)
    j = int(means.argmax())
    if means[j] > 0 and each[:, j].std(ddof=1) > _UNSTEADY * means[j]:
        yield Caveat(
            code="unsteady-folds",
            message=(
                f"The largest importance, that of {names[j]}, ranges from {number(float(each[:, j].min()))} to"
                f" {number(float(each[:, j].max()))} between folds."
            ),
            value=float(each[:, j].std(ddof=1) / means[j]),
            threshold=_UNSTEADY,
            advice=(
                "Do not rank features by so few rows; use more rows, or a loss that single rows move less (mae, brier)."
            ),
            feature=names[j],
        )


def coarse_p_values(p_values: FloatArray, refits: int) -> Iterator[Caveat]:
    """The smallest p-value that so many refits can give is too large to stand for one feature of many."""
    least, needed = 1 / (1 + refits), _SIGNIFICANT / len(p_values)
    floor = np.flatnonzero(p_values <= least * (1 + 1e-9))
    if least > needed and floor.size:
        yield Caveat(
            code="coarse-p-values",
            message=(
                f"With {refits} refits no p-value can be below {number(least)}, which {floor.size} of {len(p_values)}"
                f" features reach; with so many features one is significant only below {number(needed)}."
            ),
            value=least,
            threshold=needed,
            advice=f"Use p_values={int(np.ceil(1 / needed)) - 1} refits or more to tell them from chance.",
        )
