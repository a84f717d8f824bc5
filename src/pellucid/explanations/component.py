"""Component: one part of a decomposition, a table over the axes of one, two or three features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, frozen
from pellucid.data.frames.frame import Kind
from pellucid.data.schema import Feature
from pellucid.errors import InputError
from pellucid.explanations.store import stored
from pellucid.words import value_name

JOIN = " × "


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Axis:
    """Where along one feature a table has its entries; everything is in codes (see `pellucid.data.schema`).

    ``kind`` is ``"knots"`` (an entry at each of the increasing ``points``, straight lines between them, constant
    beyond), ``"cells"`` (constant between cuts: entry 0 where x <= points[0], entry 1 where points[0] < x <= points[1],
    ...: one entry more than points) or ``"levels"`` (an entry for each of the points, which are levels, in any order).
    ``missing``: whether one more entry, the last, is that of a missing value. ``low`` and ``high`` bound the data.
    """

    name: str
    kind: Literal["knots", "cells", "levels"]
    points: FloatArray
    low: float
    high: float
    missing: bool = False
    feature_kind: Kind = "numeric"
    categories: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", frozen(self.points))

    @property
    def present(self) -> int:
        """Entries of values that are not missing."""
        return len(self.points) + (self.kind == "cells")

    @property
    def size(self) -> int:
        """Entries along the axis."""
        return self.present + self.missing

    @property
    def feature(self) -> Feature:
        """The feature as far as it is needed to read and show its values."""
        return Feature(self.name, self.feature_kind, self.low, self.high, self.categories, 0.0, int)

    @property
    def values(self) -> AnyArray:
        """The points as values to read: numbers, dates or labels."""
        return self.feature.decode(self.points)

    @property
    def edges(self) -> AnyArray:
        """Of cells, the ends of the data and the cuts between them, as values to read."""
        return self.feature.decode(np.concatenate([[self.low], self.points, [self.high]]))

    @property
    def labels(self) -> list[str]:
        """A name for every entry."""
        if self.kind == "cells":
            ends = [value_name(value) for value in self.values]
            said = [f"up to {ends[0]}"] if ends else ["any value"]
            said += [f"{a} to {b}" for a, b in pairwise(ends)]
            said += [f"above {ends[-1]}"] if ends else []
        else:
            said = [value_name(value) for value in self.values]
        return [*said, "missing"] if self.missing else said

    def place(self, codes: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """For each code the two entries it lies between and how far it is on the way to the second, 0 to 1."""
        gone = np.isnan(codes)
        if gone.any() and not self.missing:
            raise InputError(
                f"feature {self.name!r} is missing in row {int(gone.argmax())}, but was never missing where the"
                " decomposition was made; fill it in."
            )
        known = np.where(gone, self.low if self.present else 0.0, codes)
        left, right, share = self._between(known)
        last = self.size - 1
        return np.where(gone, last, left), np.where(gone, last, right), np.where(gone, 0.0, share)

    def _between(self, codes: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        nowhere = np.zeros(len(codes))
        if not self.present:  # missing wherever the decomposition was made: there is nothing else to go by
            return nowhere.astype(np.intp), nowhere.astype(np.intp), nowhere
        if self.kind == "cells":
            at = np.searchsorted(self.points, codes, side="left")
            return at, at, nowhere
        if self.kind == "levels":
            order = np.argsort(self.points)
            found = np.searchsorted(self.points, codes, sorter=order)
            at = order[np.minimum(found, len(self.points) - 1)]
            if (self.points[at] != codes).any():
                row = int((self.points[at] != codes).argmax())
                level = value_name(self.feature.decode(codes[row : row + 1])[0])
                raise InputError(
                    f"{self.name!r} is {level} in row {row}, a level that the decomposition has no part for; known are"
                    f" {', '.join(self.labels[:8])}."
                )
            return at, at, nowhere
        if len(self.points) == 1:
            return nowhere.astype(np.intp), nowhere.astype(np.intp), nowhere
        right = np.clip(np.searchsorted(self.points, codes), 1, len(self.points) - 1)
        start, end = self.points[right - 1], self.points[right]
        return right - 1, right, np.clip((codes - start) / (end - start), 0.0, 1.0)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Component:
    """A function of one, two or three features: a ``table`` with one axis per feature and the outputs last.

    ``variance`` (outputs) is the variance of the component under the measure of its method.
    """

    features: tuple[str, ...]
    axes: tuple[Axis, ...]
    table: FloatArray
    variance: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", frozen(self.table))
        object.__setattr__(self, "variance", frozen(self.variance))

    @property
    def name(self) -> str:
        """``temp`` or ``temp × hum``."""
        return JOIN.join(self.features)

    def at(self, columns: Sequence[FloatArray]) -> FloatArray:
        """The component at rows given as one array of codes per feature: ``(rows, outputs)``."""
        places = [axis.place(codes) for axis, codes in zip(self.axes, columns, strict=True)]
        ways = [(0, 1) if axis.kind == "knots" and axis.present > 1 else (0,) for axis in self.axes]
        total = np.zeros((len(columns[0]), self.table.shape[-1]))
        for corner in product(*ways):
            weight = np.ones(len(total))
            for side, (_, _, share) in zip(corner, places, strict=True):
                weight = weight * (share if side else 1.0 - share)
            entry = tuple(place[side] for side, place in zip(corner, places, strict=True))
            total += weight[:, None] * self.table[entry]
        return total

    def columns(self, output_names: Sequence[str]) -> dict[str, AnyArray]:
        """A tidy table: the entry's label on every axis, the output if there are several, and the effect."""
        index = np.indices(self.table.shape[:-1]).reshape(len(self.axes), -1)
        several = len(output_names) > 1
        tidy: dict[str, AnyArray] = {}
        for axis, entry in zip(self.axes, index, strict=True):
            shown = axis.values if axis.kind != "cells" and not axis.missing else _objects(axis.labels)
            tidy[axis.name] = np.tile(shown[entry], len(output_names))
        if several:
            tidy["output"] = np.repeat(_objects(output_names), index.shape[1])
        tidy["effect"] = np.moveaxis(self.table, -1, 0).ravel()
        return tidy


@stored
@dataclass(frozen=True)
class Check:
    """A property that the components should have: how far they are from it and whether that is near enough.

    ``value`` is measured relative to the spread of the function (zero means, its standard deviation; products, its
    variance); the property ``holds`` where it is at most the ``tolerance``.
    """

    name: str
    value: float
    tolerance: float
    words: str

    @property
    def holds(self) -> bool:
        """Whether the property holds."""
        return bool(self.value <= self.tolerance)


def _objects(values: Sequence[Any]) -> AnyArray:
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array
