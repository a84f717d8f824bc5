"""Where the value of a feature crosses the thresholds of the trees, in codes: through whatever encodes it.

A feature with one column of numbers in the trees is compared with thresholds t; in codes these are *edges* e: a code
above e has its column on the other side of t. Without an encoder an edge is the threshold itself; behind a scaler it is
found by bisection over the codes, for all features at once, since a column depends on its own feature alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray

Encode = Callable[[FloatArray], FloatArray]  # rows of codes to the matrix of the trees
_WIDER = 10.0  # how far beyond the data edges are looked for, in ranges of the data
_HALVINGS = 70


@dataclass(frozen=True, eq=False)
class Edges:
    """Ascending codes: values up to and including ``codes[i]`` are on one side of a threshold, values above it on the
    other. Where the column falls as the code rises, ``falls``, the cells of the trees come in reverse.
    """

    codes: FloatArray
    falls: bool = False

    def interval(self, values: FloatArray) -> IntArray:
        """Which interval between the edges each code lies in."""
        return np.asarray(np.searchsorted(self.codes, values, side="left"))


@dataclass(frozen=True)
class Scale:
    """The codes that a feature can have: multiples of a step, or any; from ``low`` to ``high`` and beyond."""

    low: float
    high: float
    step: float
    decimals: int

    @property
    def ends(self) -> tuple[int, int]:
        """The numbers of the first and last code that are looked at."""
        wide = _WIDER * max(self.high - self.low, abs(self.high), 1.0)
        if self.step > 0:
            return int(np.floor((self.low - wide) / self.step)), int(np.ceil((self.high + wide) / self.step))
        return int(_number(np.array([self.low - wide]))[0]), int(_number(np.array([self.high + wide]))[0])

    def code(self, number: IntArray) -> FloatArray:
        """The code with a number."""
        if self.step > 0:
            return np.asarray(np.round(number * self.step, self.decimals))
        return _double(number)


def _number(value: FloatArray) -> IntArray:
    """Doubles numbered in their order."""
    bits = value.view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _double(number: IntArray) -> FloatArray:
    number = np.asarray(number, dtype=np.int64)
    return np.where(number < 0, np.int64(-(2**63)) - number, number).view(np.float64)


def find_edges(
    encode: Encode,
    x: FloatArray,
    scales: Mapping[int, Scale],
    columns: Mapping[int, int],
    thresholds: Mapping[int, FloatArray],
) -> dict[int, Edges | None]:
    """The edges of each feature (with its column and the column's thresholds); None where the column neither rises nor
    falls along the feature.
    """
    ask = _Ask(encode, x, columns)
    ends = {j: np.array(scale.ends) for j, scale in scales.items()}
    least, most = (ask({j: scale.code(ends[j][[k]]) for j, scale in scales.items()}) for k in (0, 1))
    falls = {j: bool(least[j][0] > most[j][0]) for j in scales}
    low = {j: np.full(len(thresholds[j]), ends[j][0]) for j in scales}
    high = {j: np.full(len(thresholds[j]), ends[j][1]) for j in scales}
    for _ in range(_HALVINGS):  # low is on the near side, high on the far one
        middle = {j: low[j] + (high[j] - low[j]) // 2 for j in scales}
        if all((middle[j] == low[j]).all() for j in scales):
            break
        found = ask({j: scale.code(middle[j]) for j, scale in scales.items()})
        for j in scales:
            near = (found[j] <= thresholds[j]) != falls[j]
            low[j], high[j] = np.where(near, middle[j], low[j]), np.where(near, high[j], middle[j])
    # an edge beyond what is looked at: all codes are on one side
    edges: dict[int, Edges | None] = {}
    for j, scale in scales.items():
        edge = scale.code(low[j])
        edge = np.where((least[j][0] <= thresholds[j]) == falls[j], -np.inf, edge)
        edge = np.where((most[j][0] <= thresholds[j]) != falls[j], np.inf, edge)
        edge = edge[::-1] if falls[j] else edge
        edges[j] = Edges(edge, falls[j]) if (edge[1:] >= edge[:-1]).all() else None
    return edges


@dataclass(frozen=True, eq=False)
class _Ask:
    """What the columns of some features become for some codes of each, all in one call."""

    encode: Encode
    x: FloatArray
    columns: Mapping[int, int]

    def __call__(self, codes: Mapping[int, FloatArray]) -> dict[int, FloatArray]:
        rows = np.repeat(self.x[None], max([len(values) for values in codes.values()] or [0]), axis=0)
        for j, values in codes.items():
            rows[: len(values), j] = values
        matrix = self.encode(rows) if len(rows) else np.empty((0, 0))
        return {j: matrix[: len(values), self.columns[j]] if len(rows) else values for j, values in codes.items()}


def same_edges(
    encode: Encode,
    x: FloatArray,
    scales: Mapping[int, Scale],
    columns: Mapping[int, int],
    thresholds: Mapping[int, FloatArray],
) -> dict[int, Edges]:
    """The features whose edges are the thresholds themselves: the column is the code."""
    ask = _Ask(encode, x, columns)
    tried = {}
    for j, scale in scales.items():
        t = thresholds[j]
        if scale.step > 0:
            number = np.floor(np.clip(t / scale.step, -1e15, 1e15))
            tried[j] = np.concatenate([scale.code(number), scale.code(number + 1), [scale.low, scale.high]])
        else:
            tried[j] = np.concatenate([t, np.nextafter(t, np.inf), [scale.low, scale.high]])
        tried[j] = np.where(np.isfinite(tried[j]), tried[j], scale.low)
    found = ask(tried)
    return {j: Edges(thresholds[j]) for j in scales if np.array_equal(found[j], tried[j])}
