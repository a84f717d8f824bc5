"""Few rows, or none, where an explanation speaks: grid points, bins, cells, folds and coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.explanations import Caveat, Clusters, Decomposition, Interactions
from pellucid.models import Predictor
from pellucid.stats import Z95, effective_size
from pellucid.words import counted, listed, number, percent, value_name

_ROWS = 5
_SHARE = 0.5  # of the grid; charts show where rows are few, and words leave it out
_BLOCK = 40  # rows that a block of a grid of several features has on average
_OUTSIDE = 0.001
_EMPTY = 0.1
_EMPTY_PART = 0.25
_FEW_ROWS = 100
_TOO_FEW = 30
_LACKING = 0.25
_ENOUGH = 300  # rows for a measure of interaction; with more, intervals tell how well it is known
_FEWER = "Give more rows, fewer features (features=[...]), order=1 or a smaller grid."
_OPTIMISM = 0.02
_ROOM = 0.1  # rows that are not used up, as a share: with fewer, R² says nothing


def support_caveat(
    data: Data, chosen: tuple[int, ...], points: tuple[FloatArray, ...], counts: FloatArray, *, cells: bool = False
) -> Iterator[Caveat]:
    """Grid points, bins or cells with fewer than five rows.

    A grid may be finer than the data: rows at neighbouring points count where there are fewer than ten rows a point,
    and of several features blocks of neighbouring points are looked at. Of ``cells`` those without rows are another
    caveat.
    """
    rows = counts / data.weights.sum() * len(data)
    if len(chosen) == 1 and not cells and not data.schema.features[chosen[0]].nominal:
        rows = _nearby(rows, int(np.ceil(2 * _ROWS * len(rows) / len(data))))
    if len(chosen) > 1 and not cells:
        rows = _blocks(rows, max(2, int((len(data) / _BLOCK) ** (1 / len(chosen)))))
    thin = (rows < _ROWS - 1e-9) & ((rows > 0) | (len(chosen) == 1) | (not cells))
    share = float(thin.mean()) if thin.size else 0.0
    if share < _SHARE:
        return
    features = [data.schema.features[j] for j in chosen]
    names = listed([feature.name for feature in features])
    if len(chosen) == 1:
        where = _where(features[0].decode(points[0]), thin, features[0].nominal)
    else:
        where = f"{int(thin.sum())} of {thin.size} combinations"
    yield Caveat(
        code="few-data",
        message=f"{percent(share)} of the grid of {names} has fewer than {_ROWS} rows per point ({where}).",
        value=share,
        threshold=_SHARE,
        advice="Do not read the effect there.",
        feature=names,
    )


def _nearby(rows: FloatArray, points: int) -> FloatArray:
    """Sums over so many neighbouring points."""
    return np.convolve(rows, np.ones(min(points, len(rows))), mode="same")


def _blocks(rows: FloatArray, most: int) -> FloatArray:
    """Sums over blocks of neighbouring points, at most so many along each axis."""
    for axis, size in enumerate(rows.shape):
        starts = np.unique(np.linspace(0, size, min(most, size), endpoint=False).astype(np.intp))
        rows = np.add.reduceat(rows, starts, axis=axis)
    return rows


def _where(values: AnyArray, thin: AnyArray, nominal: bool) -> str:
    """The thin part in words: levels, or stretches of the axis."""
    if len(values) == len(thin) + 1:  # bins between edges
        starts, ends = values[:-1], values[1:]
    else:
        starts = ends = values
    if nominal:
        return listed([value_name(value) for value in values[thin]], 4)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], thin.astype(int), [0]])))
    stretches = [(starts[a], ends[b - 1]) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    said = [value_name(a) if a == b else f"{value_name(a)} to {value_name(b)}" for a, b in stretches]
    return listed(said, 3)


def outside_bins(data: Data, chosen: tuple[int, ...], inside: BoolArray) -> Iterator[Caveat]:
    """Rows outside the given bins."""
    present = np.all([~np.isnan(data.codes(j)) for j in chosen], axis=0)
    share = float(data.weights[present & ~inside].sum() / data.weights.sum())
    if share > _OUTSIDE:
        name = listed([data.schema.names[j] for j in chosen])
        yield Caveat(
            code="outside-bins",
            message=f"{percent(share)} of the rows lie outside the given bins of {name} and were left out.",
            value=share,
            threshold=_OUTSIDE,
            advice="Give edges that span the data.",
            feature=name,
        )


def empty_bins(data: Data, j: int, edges: FloatArray, counts: FloatArray) -> Iterator[Caveat]:
    """Bins of a numeric feature that hold no rows: the curve is bridged there."""
    feature, empty = data.schema.features[j], counts == 0
    if feature.nominal or not empty.any():
        return
    width = np.diff(edges)
    share = float(width[empty].sum() / width.sum())
    yield Caveat(
        code="empty-bins",
        message=(
            f"No row has a value of {feature.name} from {_where(feature.decode(edges), empty, False)}: the curve is"
            " bridged there with the slopes on either side."
        ),
        value=share,
        threshold=0.0,
        advice="Do not read the effect there, or leave out bins= so that every bin has rows.",
        feature=feature.name,
    )


def empty_cells(data: Data, chosen: tuple[int, ...], counts: FloatArray) -> Iterator[Caveat]:
    """Cells of several features that hold no rows."""
    share = float((counts == 0).mean())
    if share > _EMPTY:
        name = listed([data.schema.names[j] for j in chosen])
        fewer = max(2, int((len(data) / 20) ** (1 / len(chosen)) + 1e-9))
        yield Caveat(
            code="empty-cells",
            message=(
                f"{percent(share)} of the cells of {name} hold no rows; they are marked, and filled from their"
                " neighbours only so that effects add up."
            ),
            value=share,
            threshold=_EMPTY,
            advice=f"Look only at cells with rows, or use fewer bins (bins={fewer} gives about 20 rows a cell).",
            feature=name,
        )


class Cells(Protocol):
    """The cells of one feature: how many, and that of each row (-1: missing)."""

    @property
    def n_cells(self) -> int: ...

    @property
    def cell(self) -> IntArray: ...


def empty_part_cells(data: Data, cells: Mapping[tuple[int, ...], tuple[Cells, ...]]) -> Iterator[Caveat]:
    """The part with the largest share of cells without rows."""
    shares = {subset: _empty_share(axes) for subset, axes in cells.items()}
    worst = max(shares, key=lambda subset: shares[subset], default=())
    if not worst or shares[worst] <= _EMPTY_PART:
        return
    name = listed([data.schema.names[j] for j in worst])
    several = sum(share > _EMPTY_PART for share in shares.values()) - 1
    more = f" So do more than a quarter of those of {counted(several, 'other part')}." if several else ""
    yield Caveat(
        code="empty-cells",
        message=(
            f"{percent(shares[worst])} of the cells of {name} hold no rows and copy the change in the nearest"
            f" cell.{more}"
        ),
        value=shares[worst],
        threshold=_EMPTY_PART,
        advice="Read such parts only where there are rows, use a smaller grid, or use method='generalized'.",
        feature=name,
    )


def _empty_share(axes: tuple[Cells, ...]) -> float:
    shape = tuple(axis.n_cells for axis in axes)
    inside = np.all([axis.cell >= 0 for axis in axes], axis=0)
    seen = np.unique(np.ravel_multi_index([axis.cell[inside] for axis in axes], shape))
    return 1.0 - len(seen) / int(np.prod(shape))


def few_rows(data: Data, found: Decomposition) -> Iterator[Caveat]:
    """Averages and R² over a handful of rows say little about others."""
    size = effective_size(data.weights)
    if found.density == "data" and size < _FEW_ROWS:
        yield Caveat(
            code="few-rows",
            message=f"Averages, shares and R² are based on only {_rows(len(data), size)}.",
            value=_FEW_ROWS / size,
            threshold=1.0,
            advice="Give more rows of data: with others the shares may differ.",
        )


def few_rows_in_all(data: Data, what: str) -> Iterator[Caveat]:
    """So few rows that even averages over all of them say little about others."""
    size = effective_size(data.weights)
    if size < _TOO_FEW:
        yield Caveat(
            code="few-rows",
            message=f"{what} rest on only {_rows(len(data), size)}.",
            value=_TOO_FEW / size,
            threshold=1.0,
            advice="Give more rows of data: with others they may differ a lot.",
        )


def _rows(n: int, size: float) -> str:
    """``2 rows``, or where weights make them count for fewer, ``weighted rows that count for 41 rows``."""
    said = counted(round(size), "row")
    return said if size >= n - 0.5 else f"weighted rows that count for {said}"


def few_rows_for_clusters(result: Clusters, data: Data) -> Iterator[Caveat]:
    """Chance alone would give such an association to one pair in twenty."""
    size = effective_size(data.weights)
    chance = Z95 / float(np.sqrt(max(size - 1, 1.0)))
    if chance > result.threshold and len(result.labels) > 1:
        yield Caveat(
            code="few-rows-for-clusters",
            message=f"With {number(size)} rows even unrelated features {_by_chance(chance)}.",
            value=min(chance, 1.0),
            threshold=result.threshold,
            advice="Give more rows or a higher threshold.",
        )


def _by_chance(chance: float) -> str:
    if chance >= 1:
        return "may be completely correlated"
    return f"have an association above {number(chance)} in one of twenty pairs"


def rows_sampled(data: Data, result: Interactions) -> Iterator[Caveat]:
    """Few of the rows were used."""
    used, all_rows = int(result.settings["rows"]), int(np.count_nonzero(data.weights > 0))
    if used < min(all_rows, _ENOUGH):
        yield Caveat(
            code="rows-sampled",
            message=f"{used:,} of {all_rows:,} rows were used, drawn at random.",
            value=all_rows / used,
            threshold=1.0,
            advice=(
                "Give rows= for more (the cost grows with its square), or another random_state to see how much it"
                " matters."
            ),
        )


def fewer_rows(lacking: float) -> Iterator[Caveat]:
    """Models fitted to much less than all rows learn less."""
    if lacking > _LACKING + 1e-9:
        yield Caveat(
            code="fewer-rows",
            message=(
                f"Refitted models lack up to {percent(lacking)} of the rows, so they may have learned less than one"
                " fitted to all of them."
            ),
            value=lacking,
            threshold=_LACKING,
            advice="Use more folds.",
        )


def too_many_coefficients(
    found: Decomposition, data: Data, columns: tuple[int, ...], rows: int, parameters: float
) -> Iterator[Caveat]:
    """R² at rows that did not take part, by generalised cross-validation, against that at those that did."""
    room = max(1.0 - parameters / rows, 1.0 / rows)
    possible = np.prod([float(max(data.schema.features[j].distinct, 1)) for j in columns])
    if room < _ROOM and rows < possible:
        yield Caveat(
            code="too-many-coefficients",
            message=(
                f"{parameters:,.0f} coefficients were fitted to {rows:,} different rows: they can reproduce any"
                " predictions there, and say nothing about other rows."
            ),
            value=parameters / rows,
            threshold=1.0 - _ROOM,
            advice=_FEWER,
        )
        return
    lost = np.maximum(1.0 - np.atleast_1d(found.r2), 0.0)
    gap = float((lost / room**2 - lost).max(initial=0.0))
    if gap > _OPTIMISM:
        k = int(np.argmax(lost))
        honest = max(1.0 - float(lost[k]) / room**2, 0.0)
        yield Caveat(
            code="too-many-coefficients",
            message=(
                f"{parameters:,.0f} coefficients were fitted to {rows:,} different rows: the decomposition reproduces"
                f" {percent(1.0 - float(lost[k]))} of the variance there, but about {percent(honest)} at other rows."
            ),
            value=gap,
            threshold=_OPTIMISM,
            advice=_FEWER,
        )


def rare_class(predictor: Predictor, y: FloatArray, weights: FloatArray, *, fewest: float = 30.0) -> Iterator[Caveat]:
    """The class with the fewest rows has too few to be scored; ``y`` holds the positions of the classes."""
    if predictor.classes is None:
        return
    sizes = {k: effective_size(weights[y == k]) for k in range(len(predictor.classes)) if (y == k).any()}
    rarest = min(sizes, key=lambda k: sizes[k])
    if sizes[rarest] < fewest:
        name = value_name(predictor.classes[rarest])
        yield Caveat(
            code="rare-class",
            message=(
                f"Only {counted(round(sizes[rarest]), 'row')} {'is' if round(sizes[rarest]) == 1 else 'are'} of {name}:"
                " what is said of this class is uncertain."
            ),
            value=fewest / max(sizes[rarest], 1e-9),
            threshold=1.0,
            advice="Give more rows of this class.",
        )
