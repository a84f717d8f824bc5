"""CatBoost's target statistics (ctr): what a category, or a combination of them, is replaced by.

At prediction a ctr is a fixed table. The categories of a row, and whether it is above some borders, are folded into one
key by which the table holds counts from the training data: of rows, of rows by class, or the sum of the target. A ctr
is a smoothed share of them, (count + prior) / (total + weight of the prior), rescaled; a key that was never seen has
the prior alone. A split asks whether it is above a border. So a split on a ctr is a function of a few columns, each of
which has finitely many classes: `Ctr.above` tabulates it.

Keys are built from hashes by steps that can be undone, which tells the categories that a table knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, IntArray
from pellucid.trees.convert.tree_model import Unsupported

_STEP = 0x4906BA494954CB65
_WORD = 1 << 64
_BACK = pow(_STEP, -1, _WORD)
_NO_KEY = _WORD - 1  # of an empty place in a table
_MOST_CELLS = 1 << 22  # combinations of categories, of one ctr

Levels = dict[int, dict[int, int]]  # categorical column -> hash of a category -> its code


@dataclass(frozen=True, eq=False)
class Ctr:
    """One statistic: the columns it is made from and its table of counts.

    ``categories`` are columns, ``bits`` are (column, border) of numbers and (column, hash) of single categories.
    """

    categories: tuple[int, ...]
    bits: tuple[tuple[int, float, bool], ...]  # column, border or hash, whether it is a hash
    kind: str
    prior: tuple[float, float]
    shift: float
    scale: float
    target: int
    keys: AnyArray  # sorted
    counts: AnyArray  # one row per key
    denominator: float

    @classmethod
    def of(cls, description: dict[str, Any], data: dict[str, Any], floats: list[Any], categories: list[Any]) -> Ctr:
        """From one entry of CatBoost's list of ctrs and the tables of all of them."""
        columns, bits = [], []
        for element in description["elements"]:
            kind = element["combination_element"]
            if kind == "cat_feature_value":
                columns.append(categories[element["cat_feature_index"]]["flat_feature_index"])
            elif kind == "float_feature":
                bits.append((floats[element["float_feature_index"]]["flat_feature_index"], element["border"], False))
            elif kind == "cat_feature_exact_value":
                column = categories[element["cat_feature_index"]]["flat_feature_index"]
                bits.append((column, element.get("value", element.get("cat_feature_value")), True))
            else:
                raise Unsupported(f"CatBoost ctr of a {kind}")
        table = data[description["identifier"]]
        flat, stride = table["hash_map"], table["hash_stride"]
        keys = np.array([int(key) for key in flat[::stride]], dtype=np.uint64)
        counts = np.array([flat[place::stride] for place in range(1, stride)], dtype=np.float32).T
        order = np.argsort(keys)
        order = order[keys[order] != np.uint64(_NO_KEY)]
        return cls(
            tuple(columns),
            tuple(bits),
            description["ctr_type"],
            (description["prior_numerator"], description["prior_denomerator"]),
            description["shift"],
            description["scale"],
            description["target_border_idx"],
            keys[order],
            counts[order],
            table["counter_denominator"],
        )

    def above(self, border: float, levels: Levels) -> BoolArray:
        """Whether the ctr is above a border: one axis per categorical column, by code, the last that of an unknown
        category; then one of two entries per bit.
        """
        shape = (*(len(levels[column]) + 1 for column in self.categories), *(2 for _ in self.bits))
        if np.prod([float(size) for size in shape]) > _MOST_CELLS:
            raise Unsupported("CatBoost ctr of a combination of columns with very many categories")
        key: AnyArray = np.zeros((1,) * len(shape), dtype=np.uint64)
        known: AnyArray = np.ones((1,) * len(shape), dtype=np.bool_)
        for axis, column in enumerate(self.categories):
            hashes = np.append(np.array(list(levels[column]), dtype=np.int64), 0).astype(np.uint64)
            key = _folded(key, _along(hashes, axis, len(shape)))
            known = known & _along(np.arange(len(hashes)) < len(levels[column]), axis, len(shape))
        for axis in range(len(self.categories), len(shape)):
            key = _folded(key, _along(np.arange(2, dtype=np.uint64), axis, len(shape)))
        key, known = np.broadcast_to(key, shape), np.broadcast_to(known, shape)
        place = np.minimum(np.searchsorted(self.keys, key), max(len(self.keys) - 1, 0))
        found = known & (self.keys[place] == key) if len(self.keys) else np.zeros(shape, dtype=np.bool_)
        good, total = self._shares()
        value = np.where(
            found, self._value(good, total)[place], self._value(np.zeros(1, np.float32), np.zeros(1, np.float32))
        )
        return np.asarray(value > np.float32(border))

    def _shares(self) -> tuple[AnyArray, AnyArray]:
        """Of every key the count that is set against another."""
        counts = self.counts
        if self.kind in ("Counter", "FeatureFreq"):
            return counts[:, 0], np.full(len(counts), self.denominator, dtype=np.float32)
        if self.kind in ("BinarizedTargetMeanValue", "FloatTargetMeanValue"):
            return counts[:, 0], counts[:, 1]
        if self.kind == "Buckets":
            return counts[:, self.target], counts.sum(axis=1)
        if self.kind == "Borders":
            return counts[:, self.target + 1 :].sum(axis=1), counts.sum(axis=1)
        raise Unsupported(f"CatBoost ctr of type {self.kind}")

    def _value(self, good: AnyArray, total: AnyArray) -> AnyArray:
        """In single precision throughout, as CatBoost does."""
        prior, weight = (np.float32(number) for number in self.prior)
        share = (good + prior) / (total + weight)
        return np.asarray((share + np.float32(self.shift)) * np.float32(self.scale), dtype=np.float32)


def _folded(key: AnyArray, part: AnyArray) -> AnyArray:
    """The key with one more part."""
    step = np.uint64(_STEP)
    return step * (key + step * part)


def _along(values: AnyArray, axis: int, axes: int) -> AnyArray:
    return values.reshape([-1 if place == axis else 1 for place in range(axes)])


# ------------------------------------------------------------------------------- which categories there are


def known_hashes(ctrs: list[Ctr], named: dict[int, set[int]]) -> dict[int, set[int]]:
    """The hashes of all categories that tables of ctrs know, and those named by splits already, column by column.

    A key of one column is undone as it is. Of several columns the last unknown one is found by trying the known
    categories of the others: a wrong one hardly ever leads to a number that is a hash.
    """
    found = {column: set(hashes) for column, hashes in named.items()}
    for ctr in sorted(ctrs, key=lambda ctr: len(ctr.categories)):
        for place, column in enumerate(ctr.categories):
            others = [sorted(found.get(other, ())) for other in ctr.categories]
            found.setdefault(column, set()).update(_undone(ctr, place, others))
    return found


def _undone(ctr: Ctr, place: int, others: list[list[int]]) -> Iterator[int]:
    """The categories at one place of the keys, the others being among those given."""
    back = np.uint64(_BACK)
    before, after = others[:place], others[place + 1 :]
    for bits in product((0, 1), repeat=len(ctr.bits)):
        for later in product(*after):
            rest = ctr.keys
            for part in reversed((*later, *bits)):
                rest = rest * back - np.uint64(_STEP * part % _WORD)
            for earlier in product(*before):
                first: IntArray | AnyArray = np.zeros(1, dtype=np.uint64)
                for part in earlier:
                    first = _folded(first, np.array([part % _WORD], dtype=np.uint64))
                hashes = ((rest * back - first) * back).view(np.int64)
                yield from hashes[(hashes >= -(2**31)) & (hashes < 2**31)].tolist()
