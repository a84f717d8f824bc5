"""What each feature is: learned once from the reference data, then relied on by every method.

Methods compute with *codes*: one float64 per cell, NaN where missing. A number is its own code, a
boolean is 0 or 1, a date counts microseconds since 1970, a category is its position in `categories`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import is_whole
from pellucid.data.cells import objects, objects_to_values
from pellucid.data.frames.frame import ColumnType, Frame, Kind, cannot_vary, is_missing, level_positions
from pellucid.data.frames.sparse import SparseFrame
from pellucid.errors import InputError, nearest

Categorical = Sequence[str | int] | Mapping[str | int, Sequence[Any]]

_REMEDY = " If the model knows it, give all its levels to the Explainer: categorical={{{name!r}: [...]}}."
DAY = 86_400_000_000.0  # microseconds


@dataclass(frozen=True)
class Feature:
    """One column: what it is called, its kind, observed range or categories, and how much of it is missing.

    ``name`` is what people read, ``label (unit)`` where these are given; ``column`` what the table calls it, where that
    differs, and ``label`` the name without the unit.
    """

    name: str
    kind: Kind
    low: float
    high: float
    categories: tuple[Any, ...] | None
    missing: float
    count: Callable[[], int] = field(repr=False, compare=False)
    whole_days: bool = False
    column: str = ""
    label: str = ""

    @property
    def source(self) -> str:
        """The name of the column in tables."""
        return self.column or self.name

    def called(self, label: str | None, unit: str | None) -> Feature:
        """The same under a name for people: the one place where that is made."""
        name = f"{label or self.source} ({unit})" if unit else label or self.source
        return self if name == self.name else replace(self, name=name, column=self.source, label=label or "")

    @cached_property
    def distinct(self) -> int:
        """Number of distinct values, counted when first asked for: it takes a sort of the column."""
        return self.count()

    @property
    def empty(self) -> bool:
        """Whether the feature is missing in every row."""
        return self.missing == 1.0

    @property
    def nominal(self) -> bool:
        """Whether the feature has levels without distances (drawn as bars, never interpolated)."""
        return self.kind in ("categorical", "boolean", "ordered")

    def encode(self, values: AnyArray) -> FloatArray:
        """Plain values as codes; what the feature cannot be (a category never seen) is an error."""
        if self.categories is not None:
            codes = level_positions(self.categories, values, self.name, _REMEDY)
            return np.where(codes < 0, np.nan, codes)
        convert = dates_to_codes if self.kind == "date" else _numbers
        try:
            numbers = convert(values)
        except (TypeError, ValueError):
            raise self._refusal(values, convert) from None
        if np.isinf(numbers).any():
            row = int(np.flatnonzero(np.isinf(numbers))[0])
            raise _infinite(self.name, row)
        return numbers

    def _refusal(self, values: AnyArray, convert: Callable[[AnyArray], FloatArray]) -> InputError:
        """The error that names the first value which is not of this kind."""
        for value in values.tolist():
            try:
                convert(objects([value]))
            except (TypeError, ValueError):
                remedy = "dates such as '2024-05-31'" if self.kind == "date" else "numbers"
                return InputError(f"feature {self.name!r} is {self.kind} and cannot take {value!r}; give {remedy}.")
        return InputError(f"feature {self.name!r} is {self.kind} and cannot take {values.dtype} values.")

    def decode(self, codes: FloatArray) -> AnyArray:
        """Codes as values to read: ints, floats, booleans, dates or category labels."""
        if self.categories is not None:
            levels = objects([*self.categories, None])
            return levels[np.where(np.isnan(codes), -1.0, codes).astype(np.intp)]
        if self.kind == "date":
            return codes_to_dates(codes)
        if self.kind in ("integer", "boolean") and not np.isnan(codes).any():
            return codes.astype(np.int64 if self.kind == "integer" else np.bool_)
        return codes

    def plain(self, codes: FloatArray) -> AnyArray:
        """Codes in the plain form that `Frame.column` takes."""
        return codes if self.kind in ("integer", "boolean") else self.decode(codes)


def _numbers(values: AnyArray) -> FloatArray:
    if values.dtype.kind in "Mm":
        raise TypeError("dates are not numbers")
    return np.asarray(values, dtype=np.float64)


def _infinite(name: str, row: int) -> InputError:
    return InputError(f"feature {name!r} is infinite in row {row}; replace infinite values or mark them missing.")


def dates_to_codes(values: AnyArray) -> FloatArray:
    """Dates (datetime64, or objects that are dates) as microseconds since 1970, NaN where missing."""
    dates = values if values.dtype.kind == "M" else objects_to_values(values.astype(object), "date")
    dates = dates.astype("datetime64[us]")
    codes = dates.astype(np.int64).astype(np.float64)
    codes[np.isnat(dates)] = np.nan
    return codes


def codes_to_dates(codes: FloatArray) -> AnyArray:
    """The inverse of `dates_to_codes`."""
    missing = np.isnan(codes)
    stamps = np.where(missing, 0.0, codes).astype(np.int64).astype("datetime64[us]")
    stamps[missing] = np.datetime64("NaT", "us")
    return stamps


@dataclass(frozen=True)
class Schema:
    """The features of a table and the groups of columns that act as one."""

    features: tuple[Feature, ...]
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in column order."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """What tables call the features."""
        return tuple(feature.source for feature in self.features)

    @cached_property
    def readable(self) -> dict[str, str]:
        """What people call a column, by its other names: that in tables, and the readable one without its unit."""
        called = {feature.source: feature.name for feature in self.features if feature.source != feature.name}
        taken = Counter([*(feature.label for feature in self.features), *self.names, *self.columns, *self.groups, ""])
        return called | {feature.label: feature.name for feature in self.features if taken[feature.label] == 1}

    def called(self, labels: Mapping[str, str] | None, units: Mapping[str, str] | None) -> Schema:
        """The same features under names for people."""
        words = {what: _words(what, given, self.columns) for what, given in (("labels", labels), ("units", units))}
        if not any(words.values()):
            return self
        features = tuple(
            feature.called(words["labels"].get(feature.source), words["units"].get(feature.source))
            for feature in self.features
        )
        names = [feature.name for feature in features]
        for j, feature in enumerate(features):
            others = {*names[:j], *names[j + 1 :], *self.columns[:j], *self.columns[j + 1 :], *self.groups}
            if feature.name != feature.source and feature.name in others:
                raise InputError(
                    f"labels calls {feature.source!r} {feature.name!r}, which is the name of another feature; give each"
                    " a name of its own."
                )
        return replace(self, features=features)

    def index(self, feature: str | int) -> int:
        """Position of a feature given by name (that of its column, or the one for people) or position."""
        if isinstance(feature, str) and feature in self.readable:
            feature = self.readable[feature]
        return _index(self.names, feature)

    def indices(self, features: Any, most: int = 2) -> tuple[int, ...]:
        """Positions of one feature or of several, two at most unless told."""
        many = isinstance(features, Iterable) and not isinstance(features, str)
        positions = tuple(self.index(feature) for feature in features) if many else (self.index(features),)
        if not 1 <= len(positions) <= most:
            allowed = "one or two" if most == 2 else "one, two or three"
            raise InputError(f"an effect is drawn for {allowed} features, not {len(positions)}; give them one by one.")
        twice = [j for place, j in enumerate(positions) if j in positions[:place]]
        if twice:
            raise InputError(f"feature {self.names[twice[0]]!r} is given twice; give different features.")
        return positions

    def players(self) -> dict[str, tuple[int, ...]]:
        """Groups first-class beside the columns that belong to none, in column order."""
        grouped = {j: name for name, members in self.groups.items() for j in members}
        players: dict[str, tuple[int, ...]] = {}
        for j, name in enumerate(self.names):
            if j in grouped:
                players[grouped[j]] = self.groups[grouped[j]]
            else:
                players[name] = (j,)
        return players

    def members(self) -> tuple[tuple[str, ...], ...]:
        """The names of the columns of every player."""
        return tuple(tuple(self.names[j] for j in columns) for columns in self.players().values())


def _words(what: str, given: Mapping[str, str] | None, columns: tuple[str, ...]) -> dict[str, str]:
    """Labels or units by column, checked."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{what} must be a dict of column names, such as {{{columns[0]!r}: '...'}}, got {given!r}.")
    for name, word in given.items():
        if name not in columns:
            raise InputError(f"{what}: there is no feature {name!r}{nearest(str(name), columns)}")
        if not isinstance(word, str) or not word.strip():
            raise InputError(f"{what}[{name!r}] must be a text, got {word!r}.")
    return {name: word.strip() for name, word in given.items()}


def _index(names: tuple[str, ...], feature: str | int) -> int:
    if is_whole(feature):
        if 0 <= feature < len(names):
            return int(feature)
        raise InputError(
            f"feature position {feature} is out of range: there are {len(names)} features, 0 to {len(names) - 1}."
        )
    if isinstance(feature, str):
        if feature in names:
            return names.index(feature)
        raise InputError(f"there is no feature {feature!r}{nearest(feature, names)}")
    raise InputError(f"a feature is a name or a position, not {feature!r}.")


@dataclass(frozen=True, eq=False)
class LazyCodes(Sequence[FloatArray]):
    """The codes of a large or sparse table, made a column at a time: all at once they may not fit in memory.

    ``places`` says where in the frame the features are, if not in their order.
    """

    frame: Frame
    features: tuple[Feature, ...]
    places: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, j: Any) -> Any:
        return self.features[j].encode(self.frame.values(j if self.places is None else self.places[j]))

    def take(self, rows: IntArray) -> LazyCodes:
        """Those of some rows."""
        return replace(self, frame=self.frame.take(rows))


class MatrixCodes(Sequence[FloatArray]):
    """The columns of a matrix of codes, each in one run of memory from when the first is looked at: most tables that
    are made for a model are never looked at.
    """

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix

    @cached_property
    def _lines(self) -> FloatArray:
        return np.ascontiguousarray(self._matrix.T)

    def __len__(self) -> int:
        return self._matrix.shape[1]

    def __getitem__(self, j: Any) -> Any:
        return self._lines[j]


def learn(
    frame: Frame,
    *,
    categorical: Categorical | None = None,
    groups: Mapping[str, Sequence[str | int]] | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> tuple[Schema, Sequence[FloatArray]]:
    """The schema of a table, with the codes of its columns."""
    names = [categorical] if isinstance(categorical, str | int) else categorical or ()
    forced = {_index(frame.names, name) for name in names}
    resolved = _resolve_groups(frame.names, groups or {})
    if isinstance(frame, SparseFrame):
        features = _learn_sparse(frame, forced)
        return Schema(features, resolved).called(labels, units), LazyCodes(frame, features)
    levels = {_index(frame.names, n): own for n, own in categorical.items()} if isinstance(categorical, Mapping) else {}
    learned = [_learn_column(frame, j, forced=j in forced, levels=levels.get(j)) for j in range(len(frame.names))]
    schema = Schema(tuple(feature for feature, _ in learned), resolved)
    return schema.called(labels, units), [codes for _, codes in learned]


def _resolve_groups(names: tuple[str, ...], groups: Mapping[str, Sequence[str | int]]) -> dict[str, tuple[int, ...]]:
    resolved: dict[str, tuple[int, ...]] = {}
    owner: dict[int, str] = {}
    for group, members in groups.items():
        if isinstance(members, str) or not len(members):
            raise InputError(f"the group {group!r} must be a list of at least one feature, not {members!r}.")
        resolved[group] = tuple(_index(names, member) for member in members)
        for j in resolved[group]:
            if j in owner:
                raise InputError(
                    f"feature {names[j]!r} is in the groups {owner[j]!r} and {group!r}; a feature belongs to one group,"
                    " once."
                )
            owner[j] = group
        if group in names and names.index(group) not in resolved[group]:
            raise InputError(f"the group {group!r} has the name of a feature outside it; give the group another name.")
    return resolved


def _learn_column(
    frame: Frame, j: int, *, forced: bool, levels: Sequence[Any] | None = None
) -> tuple[Feature, FloatArray]:
    column_type = frame.column_type(j)
    values = frame.values(j)
    kind: Kind = "categorical" if forced and column_type.kind != "ordered" else column_type.kind
    categories = _levels(values, column_type, frame.names[j]) if kind in ("categorical", "ordered") else None
    if categories is not None and levels is not None:
        categories = _with_unseen(categories, levels, frame.names[j])
    blank = Feature(frame.names[j], kind, np.nan, np.nan, categories, 0.0, int)
    codes = blank.encode(values)
    missing = np.isnan(codes)
    present = codes[~missing] if missing.any() else codes
    feature = replace(
        blank,
        low=float(present.min()) if present.size else np.nan,
        high=float(present.max()) if present.size else np.nan,
        missing=float(missing.mean()),
        count=partial(_count_distinct, codes),
        whole_days=kind == "date" and bool((present % DAY == 0).all()),
    )
    return feature, codes


def _count_distinct(codes: FloatArray) -> int:
    ascending = np.sort(codes[~np.isnan(codes)])  # faster than np.unique, which also returns the values
    return int(ascending.size > 0) + int(np.count_nonzero(ascending[1:] != ascending[:-1]))


def _learn_sparse(frame: SparseFrame, forced: set[int]) -> tuple[Feature, ...]:
    """The features of a sparse table, from its stored entries; only forced categories are made dense."""
    summary = frame.summary()
    infinite = np.flatnonzero(np.isinf(summary.low) | np.isinf(summary.high))
    if infinite.size:
        j = int(infinite[0])
        raise _infinite(frame.names[j], int(np.flatnonzero(np.isinf(frame.values(j)))[0]))
    kind = frame.column_type(0).kind
    share = summary.missing / len(frame)
    columns = zip(
        frame.names, summary.low.tolist(), summary.high.tolist(), share.tolist(), summary.distinct.tolist(), strict=True
    )
    return tuple(
        (
            _learn_column(frame, j, forced=True)[0]
            if j in forced
            else Feature(name, kind, low, high, None, missing, partial(int, distinct))
        )
        for j, (name, low, high, missing, distinct) in enumerate(columns)
    )


def _levels(values: AnyArray, column_type: ColumnType, name: str) -> tuple[Any, ...]:
    """Observed categories: in the dtype's own order where it has one, else sorted."""
    try:
        seen = dict.fromkeys(_labels(values, column_type.kind))
    except TypeError:
        raise cannot_vary(name, "objects that cannot be compared") from None
    if column_type.levels is not None:
        return tuple(level for level in column_type.levels if level in seen)
    present = [level for level in seen if not is_missing(level)]
    try:
        return tuple(sorted(present))
    except TypeError:
        return tuple(sorted(present, key=str))


def _with_unseen(seen: tuple[Any, ...], levels: Sequence[Any], name: str) -> tuple[Any, ...]:
    """The levels that were given, in their order; those of X must be among them."""
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise InputError(f"categorical[{name!r}] must be a list of levels, got {levels!r}.")
    given = tuple(dict.fromkeys(levels))
    lacking = [level for level in seen if level not in given]
    if lacking:
        raise InputError(f"categorical[{name!r}] lacks {lacking[0]!r}, which X has; give every level.")
    return given


def _labels(values: AnyArray, kind: Kind) -> list[Any]:
    """Plain values as category labels: the whole numbers of an integer column read as such."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    present = values[~np.isnan(values)]
    return list(present.astype({"integer": np.int64, "boolean": np.bool_}.get(kind, np.float64)).tolist())
