"""What the splits of a CatBoost model mean, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, IntArray
from pellucid.trees.convert.catboost_ctr import Ctr, known_hashes
from pellucid.trees.convert.catboost_expand import Axis, Decision
from pellucid.trees.convert.tree_model import Unsupported
from pellucid.words import listed

_ABOVE = np.array([False, True])


class Splits:
    """The splits of a model; ``codes`` has, for each categorical column, the code of every category that the model
    knows, by its hash. A category that it does not know has the code after the last.
    """

    def __init__(self, features: dict[str, Any], ctr_data: dict[str, Any], names: list[str]) -> None:
        self.names = names
        self._floats = features.get("float_features", [])
        self._categories = features.get("categorical_features", [])
        self._ctrs = [Ctr.of(each, ctr_data, self._floats, self._categories) for each in features.get("ctrs", [])]
        named = {entry["flat_feature_index"]: set(entry.get("values", [])) for entry in self._categories}
        self.codes: dict[int, dict[int, int]] = {
            column: {value: code for code, value in enumerate(sorted(hashes))}
            for column, hashes in known_hashes(self._ctrs, named).items()
        }
        self._missing = {entry["flat_feature_index"]: entry["nan_value_treatment"] for entry in self._floats}
        # split numbers count the borders of numbers, then the values of categories, then the borders of ctrs
        self._first = sum(len(entry.get("borders") or ()) for entry in self._floats) + sum(map(len, named.values()))
        self._ends = np.cumsum([len(ctr["borders"]) for ctr in features.get("ctrs", [])])
        self._decisions: dict[tuple[Any, ...], Decision] = {}
        self._sets: dict[tuple[int, tuple[int, ...]], int] = {}

    def missing_right(self, column: int) -> bool:
        """Whether a missing number goes right."""
        return self._missing.get(column) == "AsTrue"

    def combine(self, trees: list[dict[str, Any]]) -> bool:
        """Whether a split of symmetric trees looks at more than one column."""
        return any(
            len({axis.column for axis in self.decision(split).axes}) > 1
            for tree in trees
            for split in tree.get("splits") or ()
            if split["split_type"] == "OnlineCtr"
        )

    def decision(self, split: dict[str, Any]) -> Decision:
        """A split as a table."""
        kind, border = split["split_type"], split.get("border", split.get("value"))
        place = self._floats if kind == "FloatFeature" else self._categories
        which = split.get("float_feature_index", split.get("cat_feature_index", split.get("split_index")))
        if (kind, which, border) not in self._decisions:
            if kind == "OnlineCtr":
                found = self._of_ctr(split)
            elif kind in ("FloatFeature", "OneHotFeature"):
                column = place[which]["flat_feature_index"]
                code = self.codes[column][int(split["value"])] if kind == "OneHotFeature" else None
                found = Decision((Axis(column, None if code is not None else border, code),), _ABOVE)
            else:
                raise Unsupported(f"CatBoost split of type {kind}")
            self._decisions[kind, which, border] = found
        return self._decisions[kind, which, border]

    def _of_ctr(self, split: dict[str, Any]) -> Decision:
        place = int(np.searchsorted(self._ends, split["split_index"] - self._first, side="right"))
        ctr = self._ctrs[place]
        empty = [column for column in ctr.categories if not self.codes[column]]
        if empty:
            raise Unsupported(
                f"CatBoost ctr split on {self._named(ctr.categories)}: the model does not keep which categories"
                f" {self._named(empty)} has"
            )
        looks = [Axis(column) for column in ctr.categories]
        for column, value, is_category in ctr.bits:
            looks.append(
                Axis(column, code=self.codes[column].get(int(value), -1)) if is_category else Axis(column, value)
            )
        return Decision(tuple(looks), ctr.above(split["border"], self.codes))

    def _named(self, columns: Any) -> str:
        return listed([repr(self.names[column]) for column in columns])

    def read(self, split: dict[str, Any]) -> tuple[int, float, bool, int]:
        """Column, border, whether a missing value goes left, and the set of codes that go right (-1: a number)."""
        decision = self.decision(split)
        axis, columns = decision.axes[0], [axis.column for axis in decision.axes]
        if len(columns) > 1:
            raise Unsupported(
                f"CatBoost ctr split on a combination of {self._named(sorted(set(columns)))} in a tree that is"
                " not symmetric"
            )
        if axis.border is not None:
            return axis.column, axis.border, not self.missing_right(axis.column), -1
        right = (axis.code,) if axis.code is not None else tuple(np.flatnonzero(decision.table).tolist())
        return axis.column, np.nan, False, self.set_of(axis.column, right)

    def set_of(self, column: int, right: tuple[int, ...]) -> int:
        """The number of a set of codes that go right; equal splits share one."""
        return self._sets.setdefault((column, right), len(self._sets))

    def sets(self, which: IntArray) -> dict[str, AnyArray]:
        """The bit-sets of categorical nodes: all that is not in their set of codes goes left."""
        pool: list[AnyArray] = []
        places = np.zeros((len(self._sets) + 1, 2), dtype=np.int64)
        places[-1] = -1, 0  # of a number
        used = 0
        for (column, right), number in self._sets.items():
            size = len(self.codes[column]) // 64 + 1  # one bit more than codes: an unknown category
            bits = np.full(size, np.iinfo(np.uint64).max, dtype=np.uint64)
            for code in right:
                bits[code // 64] ^= np.uint64(1) << np.uint64(code % 64)
            pool.append(bits)
            places[number] = used, size
            used += size
        start, words = places[which].T
        sets = np.concatenate(pool) if pool else np.empty(0, np.uint64)
        return {"set_start": start, "set_words": words, "other_left": which >= 0, "sets": sets}
