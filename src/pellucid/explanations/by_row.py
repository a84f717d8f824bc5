"""Results about single rows can be taken apart by row: one, some, or one after the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any, Self, overload

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import fraction, is_position, positions, whole
from pellucid.data.row_labels import is_label
from pellucid.errors import InputError, nearest
from pellucid.explanations.explanation import Explanation
from pellucid.words import counted


class ByRow(Explanation):
    """A result whose values are (rows, features): ``s[0]``, ``s[2:5]``, ``s["age"]``, ``for one in s``."""

    def __len__(self) -> int:
        return len(self.values)

    def row(self, i: int | str) -> Self:
        """The result for one row alone, by its place among the explained rows or by its label."""
        if is_label(i):
            return self._some(self.row_labels.places([i]))
        return self._some(np.array([whole("row", i, least=0, most=len(self) - 1)]))

    @overload
    def __getitem__(self, key: int | slice | list[int]) -> Self: ...
    @overload
    def __getitem__(self, key: str | tuple[Any, str]) -> FloatArray: ...
    def __getitem__(self, key: Any) -> Self | FloatArray:
        """One row ``s[0]`` (the last is ``s[-1]``), some ``s[2:5]``, or one feature's values ``s["age"]``."""
        if isinstance(key, str):
            key = self.header.readable.get(key, key)
            if key not in self.feature_names:
                raise InputError(f"there is no feature {key!r}{nearest(key, self.feature_names)}")
            return self.values[:, self.feature_names.index(key)]
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], str):
            return self[key[0]][key[1]]
        if is_position(key):
            return self.row(key + len(self) if key < 0 else key)
        places = range(len(self))[key] if isinstance(key, slice) else positions("rows", key, len(self))
        if not len(places):
            raise InputError(f"[{key}] holds none of the {counted(len(self), 'explained row')}.")
        return self._some(np.array(places, dtype=np.intp))

    def __iter__(self) -> Iterator[Self]:
        return (self.row(i) for i in range(len(self)))

    @property
    @abstractmethod
    def ranking(self) -> IntArray:
        """Positions of the features from largest to smallest."""

    def top(self, n: int) -> list[str]:
        """Names of the ``n`` features that contribute most."""
        return [self.feature_names[j] for j in self.ranking[:n]]

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of normal intervals of the values; of no width where they are exact."""
        level = fraction("level", level)
        half = NormalDist().inv_cdf(0.5 + level / 2) * self.se
        return self.values - half, self.values + half

    @abstractmethod
    def _some(self, which: IntArray) -> Self:
        """The result for some rows alone."""
