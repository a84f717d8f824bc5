"""XGBoost's trees: Boosters and estimators, with vector leaves, categories, DART and early stopping.

XGBoost compares in single precision, a number goes left if it is *below* the threshold, and a category goes
left if it is *not* in the node's list. Formats of 1.7 to 3.x are read, by way of UBJSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from struct import Struct
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pellucid.arrays import FloatArray
from pellucid.errors import InputError
from pellucid.stats import logit
from pellucid.trees.convert.tree_model import Link, TreeModel, Unsupported, dense
from pellucid.trees.convert.xgboost_trees import Learner, model_of, tree_ensemble
from pellucid.trees.ensemble import TreeEnsemble

Scale = Literal["response", "log-odds", "score"]


def _same(x: FloatArray) -> FloatArray:
    return x


Inverse = Callable[[FloatArray], FloatArray]

# What each objective makes of the sum of the trees, what that sum is, and how the stored base score becomes
# part of it; where versions differ in the last, all ways are listed and the model itself decides.
_OBJECTIVES: Final[dict[str, tuple[Link, Scale, tuple[Inverse, ...]]]] = {
    **dict.fromkeys(
        (
            "reg:squarederror",
            "reg:linear",
            "reg:squaredlogerror",
            "reg:absoluteerror",
            "reg:pseudohubererror",
            "reg:quantileerror",
        ),
        ("identity", "response", (_same,)),
    ),
    **dict.fromkeys(("rank:pairwise", "rank:ndcg", "rank:map"), ("identity", "score", (_same,))),
    **dict.fromkeys(("binary:logistic", "reg:logistic"), ("logistic", "log-odds", (logit, _same))),
    "binary:logitraw": ("identity", "log-odds", (_same, logit)),
    "binary:hinge": ("other", "score", (_same,)),
    **dict.fromkeys(
        ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"), ("exp", "score", (np.log, _same))
    ),
    **dict.fromkeys(("multi:softprob", "multi:softmax"), ("softmax", "score", (_same,))),
}
_UNKNOWN: Final[tuple[Link, Scale, tuple[Inverse, ...]]] = ("other", "score", (_same, logit, np.log))

_SORTED: Final = (3, 4)  # since then quantiles that cross are put in order


def convert(model: Any) -> TreeModel:
    """The trees that the model's own predict uses: with early stopping, an estimator's best rounds only."""
    import xgboost

    estimator = isinstance(model, xgboost.XGBModel)
    if not estimator and not isinstance(model, xgboost.Booster):
        raise Unsupported(f"{type(model).__name__} of xgboost is neither a Booster nor an estimator")
    booster = model.get_booster() if estimator else model
    with xgboost.config_context(verbosity=0):  # what it says of boosters that it will give up one day
        stored = read(bytes(booster.save_raw(raw_format="ubj")))
    learner, version = stored["learner"], tuple(stored["version"])
    best = learner["attributes"].get("best_iteration") if estimator else None
    rounds = 0 if best is None else int(best) + 1  # 0: all
    trees = tree_ensemble(learner, rounds)
    objective = learner["objective"]["name"]
    if objective == "reg:quantileerror" and trees.n_outputs > 1 and version >= _SORTED:
        raise Unsupported("XGBoost sorts the predictions of several quantiles, so they are no longer sums of its trees")
    link, scale, inverses = _OBJECTIVES.get(objective, _UNKNOWN)
    missing = model.missing if estimator else None
    return TreeModel(
        ensemble=_with_base(trees, learner, inverses, _empty_row(booster, trees.n_features, rounds)),
        encode=Encode(
            missing=np.nan if missing is None else float(missing),
            levels=stored_levels(learner, version),
            categorical=tuple(np.unique(trees.nodes.feature[trees.nodes.set_start >= 0]).tolist()),
        ),
        source=np.arange(trees.n_features),
        link="one-vs-rest" if link == "logistic" and trees.n_outputs > 1 else link,
        scale=scale,
        fill=np.nan,
    )


def _empty_row(booster: Any, n_features: int, rounds: int) -> FloatArray:
    """What the model itself gives for a row in which everything is missing."""
    import xgboost

    row = xgboost.DMatrix(np.full((1, n_features), np.nan), nthread=1)
    with xgboost.config_context(verbosity=0):
        margin = booster.predict(row, output_margin=True, iteration_range=(0, rounds), validate_features=False)
    return np.asarray(margin, dtype=np.float64).ravel()


def _with_base(trees: TreeEnsemble, learner: Learner, inverses: Sequence[Inverse], empty: FloatArray) -> TreeEnsemble:
    """The trees with the base score on their own scale, proved by the model's answer to an empty row."""
    stored = base_scores(learner["learner_model_param"]["base_score"], trees.n_outputs)
    row = np.full((1, trees.n_features), np.nan)
    leaf = trees.nodes.value[trees.leaves(row)[0]]
    for inverse in inverses:
        with np.errstate(divide="ignore", invalid="ignore"):
            base = inverse(stored)
        based = TreeEnsemble(trees.nodes, trees.roots, trees.output, base, trees.n_features)
        slack = 1e-5 * (np.abs(base).max() + np.abs(leaf).sum())  # of sums in single precision
        if np.allclose(based.predict(row)[0], empty, rtol=1e-5, atol=slack):
            return based
    name = learner["objective"]["name"]
    raise Unsupported(f"the base score of an XGBoost model with objective {name!r} is not understood")


def base_scores(stored: Any, n_outputs: int) -> FloatArray:
    """The base score, one per output: ``5E-1`` up to 3.0, ``[5E-1]`` or one for each output since."""
    try:
        numbers = np.atleast_1d(json.loads(stored) if isinstance(stored, str) else stored)
        return np.array(np.broadcast_to(numbers.astype(np.float32), n_outputs), dtype=np.float64)
    except ValueError:
        text = f"an XGBoost base score {stored!r} for a model of {n_outputs} outputs"
        raise Unsupported(text) from None


# Numbers are stored with the high byte first; the marker is the letter before the number.
_NUMBERS: Final = {
    ord(marker): (Struct(f">{code}"), np.dtype(f">{code}"))
    for marker, code in {"i": "b", "U": "B", "I": "h", "l": "i", "L": "q", "d": "f", "D": "d"}.items()
}
_CONSTANTS: Final = {ord("T"): True, ord("F"): False, ord("Z"): None}


def read(data: bytes) -> Any:
    """The value that the bytes hold; arrays of numbers of one kind become numpy arrays."""
    return _Reader(data).value()


class _Reader:
    """The bytes and the position of the next one."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._containers: dict[int, Callable[[], Any]] = {
            ord("{"): self._object,
            ord("["): self._array,
            ord("S"): self._text,
        }

    def value(self) -> Any:
        return self._of(self._next())

    def _next(self) -> int:
        marker = self._data[self._at]
        self._at += 1
        return marker

    def _of(self, marker: int) -> Any:
        number = _NUMBERS.get(marker)
        if number is not None:
            self._at += number[0].size
            return number[0].unpack_from(self._data, self._at - number[0].size)[0]
        container = self._containers.get(marker)
        if container is not None:
            return container()
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        raise Unsupported(f"an XGBoost model whose UBJSON has the unknown marker {chr(marker)!r}")

    def _text(self) -> str:
        length = self.value()
        self._at += length
        return self._data[self._at - length : self._at].decode()

    def _object(self) -> dict[str, Any]:
        return {self._text(): self.value() for _ in self._entries("}")}

    def _array(self) -> Any:
        data, at = self._data, self._at
        if data[at] == ord("$") and data[at + 1] in _NUMBERS:
            self._at = at + 3  # "$", the kind of all elements, "#"
            count, dtype = self.value(), _NUMBERS[data[at + 1]][1]
            array = np.frombuffer(data, dtype, count, self._at)
            self._at += count * dtype.itemsize
            return array
        return [self.value() for _ in self._entries("]")]

    def _entries(self, end: str) -> Iterator[None]:
        """Once for each entry: as many as are announced, or up to the closing marker."""
        if self._data[self._at] == ord("#"):
            self._at += 1
            for _ in range(self.value()):
                yield
            return
        while self._data[self._at] != ord(end):
            yield
        self._at += 1


_WHOLE: Final = (3, 4)  # before, XGBoost counted letters and cut bytes: its own codes were mixed up


def stored_levels(learner: Learner, version: tuple[int, ...]) -> tuple[tuple[Any, ...], ...]:
    """For each column the levels it was trained with, which XGBoost keeps since 3.1; () where none are."""
    model, _ = model_of(learner["gradient_booster"])
    return tuple(_levels(column, version) for column in model.get("cats", {}).get("enc", ()))


def _levels(column: Mapping[str, Any], version: tuple[int, ...]) -> tuple[Any, ...]:
    """Numbers as they are, or words cut out of one run of bytes."""
    if "offsets" not in column:
        return tuple(np.asarray(column["values"]).tolist())
    text = np.asarray(column["values"], dtype=np.int64).astype(np.uint8).tobytes()
    if not text.isascii() and version < _WHOLE:
        raise Unsupported("XGBoost's pandas categories with letters beyond ASCII, which it stores whole since 3.4")
    ends = np.asarray(column["offsets"]).tolist()
    return tuple(text[a:b].decode() for a, b in pairwise(ends))


@dataclass(frozen=True)
class Encode:
    """From the table that XGBoost's predict takes to the matrix that its trees compare.

    missing
        The number that stands for a missing value besides NaN.
    levels
        For each column the levels whose position is the code of a pandas category; () or nothing: its own.
    categorical
        Columns with categorical splits.
    """

    missing: float
    levels: tuple[tuple[Any, ...], ...]
    categorical: tuple[int, ...]

    def __call__(self, table: Any) -> FloatArray:
        X = self._numbers(table)
        if not np.isnan(self.missing):
            X[_single(X) == _single(np.float64(self.missing))] = np.nan
        for j in self.categorical:  # XGBoost cuts the single, and takes anything below 0 for no category
            code = _single(X[:, j])
            X[:, j] = np.where(code < 0, -1, code)
        return X

    def _numbers(self, table: Any) -> FloatArray:
        if not isinstance(table, pd.DataFrame):
            return np.array(dense(table, fill=np.nan), dtype=np.float64)
        if not any(isinstance(dtype, pd.CategoricalDtype) for dtype in table.dtypes):
            return np.array(table.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.column_stack([self._column(table.iloc[:, j], j) for j in range(table.shape[1])])

    def _column(self, column: Any, j: int) -> FloatArray:
        if not isinstance(column.dtype, pd.CategoricalDtype):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        code = column.cat.codes.to_numpy()
        levels = self.levels[j] if j < len(self.levels) else ()
        place = np.arange(len(column.cat.categories))
        if levels:
            place = pd.Index(levels).get_indexer(column.cat.categories)
            used = np.unique(code[code >= 0])
            unseen = used[place[used] < 0]
            if len(unseen):  # XGBoost refuses it too, or takes it for the next one in the alphabet
                level = column.cat.categories[unseen[0]]
                raise InputError(
                    f"Column {column.name!r} has the category {level!r}, which XGBoost was not trained with."
                )
        return np.append(place.astype(np.float64), np.nan)[code]  # -1, a missing value, is the last


def _single(x: Any) -> Any:
    with np.errstate(over="ignore"):
        return x.astype(np.float32)
