"""Contour lines of a surface by marching squares.

Every cell of the grid is crossed by straight pieces between those of its sides on which the level lies,
found by linear interpolation; pieces that meet on a side are joined to lines. In a saddle (all four sides
crossed) the mean of the corners decides which sides belong together. Cells with an unknown corner are left out.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from pellucid.arrays import BoolArray, FloatArray

Point = tuple[float, float]
Side = tuple[int, int, int]  # row and column of its first grid point, and the axis along which it runs
Piece = tuple[Side, Side]


def nice_levels(low: float, high: float, n: int = 7) -> list[float]:
    """About ``n`` round numbers strictly between two limits."""
    if not (np.isfinite(low) and np.isfinite(high)) or high - low <= 1e-9 * max(abs(low), abs(high)):
        return []
    raw = (high - low) / (n + 1)
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * 0.999)
    first, last = int(np.floor(low / step)) + 1, int(np.ceil(high / step)) - 1
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def contour_lines(x: FloatArray, y: FloatArray, z: FloatArray, level: float) -> list[list[Point]]:
    """Lines on which the surface ``z[i, j]`` at ``(x[i], y[j])`` has the given level."""
    above = z >= level
    pieces: list[Piece] = []
    for i in range(len(x) - 1):
        for j in range(len(y) - 1):
            corners = z[i : i + 2, j : j + 2]
            if np.isfinite(corners).all():
                pieces += _cell_pieces(i, j, above[i : i + 2, j : j + 2], bool(corners.mean() >= level))
    return [[_crossing(x, y, z, level, side) for side in line] for line in _joined(pieces)]


def _cell_pieces(i: int, j: int, above: BoolArray, centre: bool) -> list[Piece]:
    """How the level crosses one cell."""
    bottom, top, left, right = (i, j, 0), (i, j + 1, 0), (i, j, 1), (i + 1, j, 1)
    crossed = [
        side
        for side, differs in (
            (bottom, above[0, 0] != above[1, 0]),
            (right, above[1, 0] != above[1, 1]),
            (top, above[0, 1] != above[1, 1]),
            (left, above[0, 0] != above[0, 1]),
        )
        if differs
    ]
    if len(crossed) == 2:
        return [(crossed[0], crossed[1])]
    if len(crossed) == 4:  # saddle: cut off the two corners that differ from the centre
        if bool(above[0, 0]) == centre:
            return [(bottom, right), (top, left)]
        return [(bottom, left), (right, top)]
    return []


def _crossing(x: FloatArray, y: FloatArray, z: FloatArray, level: float, side: Side) -> Point:
    """Where on a side the level lies."""
    i, j, axis = side
    start, end = float(z[i, j]), float(z[i + (axis == 0), j + (axis == 1)])
    share = (level - start) / (end - start)
    if axis == 0:
        return float(x[i] + share * (x[i + 1] - x[i])), float(y[j])
    return float(x[i]), float(y[j] + share * (y[j + 1] - y[j]))


def _joined(pieces: list[Piece]) -> list[list[Side]]:
    """Pieces chained end to end; open lines start at their ends, closed ones anywhere."""
    at: dict[Side, list[int]] = defaultdict(list)
    for k, (first, second) in enumerate(pieces):
        at[first].append(k)
        at[second].append(k)
    ends = [side for side, touching in at.items() if len(touching) == 1]
    used = [False] * len(pieces)
    lines: list[list[Side]] = []
    for start in [*ends, *(first for first, _ in pieces)]:
        line = [start]
        while unused := [k for k in at[line[-1]] if not used[k]]:
            used[unused[0]] = True
            first, second = pieces[unused[0]]
            line.append(second if line[-1] == first else first)
        if len(line) > 1:
            lines.append(line)
    return lines
