"""What each feature is: learned once from the reference data, then relied on by every method.

Methods compute with *codes*: one float64 per cell, NaN where missing. A number is its own code, a
boolean is 0 or 1, a date counts microseconds since 1970, a category is its position in `categories`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.data.frame import ColumnType, Frame, Kind, is_missing
from pellucid.errors import InputError, nearest

DAY = 86_400_000_000.0  # microseconds


@dataclass(frozen=True)
class Feature:
    """One column: its name, kind, observed range or categories, and how much of it is missing."""

    name: str
    kind: Kind
    low: float
    high: float
    categories: tuple[Any, ...] | None
    missing: float
    distinct: int
    whole_days: bool = False

    @property
    def nominal(self) -> bool:
        """Whether the feature has levels without distances (drawn as bars, never interpolated)."""
        return self.kind in ("categorical", "boolean", "ordered")

    def encode(self, values: AnyArray) -> FloatArray:
        """Plain values as codes; a category never seen in the reference data is an error."""
        if self.categories is not None:
            position = {level: float(code) for code, level in enumerate(self.categories)}
            return np.array([self._code(value, position) for value in values], dtype=np.float64)
        if self.kind == "date":
            return dates_to_codes(values)
        return np.asarray(values, dtype=np.float64)

    def _code(self, value: Any, position: Mapping[Any, float]) -> float:
        if is_missing(value):
            return np.nan
        if value not in position:
            raise InputError(
                f"{value!r} is not a category of feature {self.name!r}"
                + nearest(str(value), [str(level) for level in self.categories or ()])
            )
        return position[value]

    def decode(self, codes: FloatArray) -> AnyArray:
        """Codes as values to read: ints, floats, booleans, dates or category labels."""
        if self.categories is not None:
            out = np.empty(len(codes), dtype=object)
            out[:] = [None if np.isnan(code) else self.categories[int(code)] for code in codes]
            return out
        if self.kind == "date":
            return codes_to_dates(codes)
        if self.kind in ("integer", "boolean") and not np.isnan(codes).any():
            return codes.astype(np.int64 if self.kind == "integer" else np.bool_)
        return codes

    def plain(self, codes: FloatArray) -> AnyArray:
        """Codes in the plain form that `Frame.column` takes."""
        return codes if self.kind in ("integer", "boolean") else self.decode(codes)


def dates_to_codes(values: AnyArray) -> FloatArray:
    """datetime64 as microseconds since 1970, NaN for NaT."""
    stamps = np.asarray(values, dtype="datetime64[us]")
    codes = stamps.astype(np.int64).astype(np.float64)
    codes[np.isnat(stamps)] = np.nan
    return codes


def codes_to_dates(codes: FloatArray) -> AnyArray:
    """The inverse of `dates_to_codes`."""
    missing = np.isnan(codes)
    stamps = np.where(missing, 0.0, codes).astype(np.int64).astype("datetime64[us]")
    stamps[missing] = np.datetime64("NaT")
    return stamps


@dataclass(frozen=True)
class Schema:
    """The features of a table and the groups of columns that act as one."""

    features: tuple[Feature, ...]
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def index(self, feature: str | int) -> int:
        """Position of a feature given by name or position."""
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
            if 0 <= feature < len(self.features):
                return int(feature)
            raise InputError(
                f"feature position {feature} is out of range: there are {len(self.features)} features, 0 to {len(self.features) - 1}."
            )
        if isinstance(feature, str):
            if feature in self.names:
                return self.names.index(feature)
            raise InputError(f"there is no feature {feature!r}{nearest(feature, self.names)}")
        raise InputError(f"a feature is a name or a position, not {feature!r}.")

    def indices(self, features: Any) -> tuple[int, ...]:
        """Positions of one feature or a pair of features."""
        many = isinstance(features, Iterable) and not isinstance(features, str)
        positions = tuple(self.index(feature) for feature in features) if many else (self.index(features),)
        if len(positions) not in (1, 2):
            raise InputError(
                f"an effect is drawn for one or two features, not {len(positions)}; ask for them one by one."
            )
        if len(set(positions)) != len(positions):
            raise InputError(
                f"feature {self.names[positions[0]]!r} is given twice; give two different features."
            )
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


def learn(
    frame: Frame,
    *,
    categorical: Sequence[str | int] | None = None,
    groups: Mapping[str, Sequence[str | int]] | None = None,
) -> tuple[Schema, list[FloatArray]]:
    """The schema of a table, with the codes of its columns."""
    plain = Schema(tuple(Feature(name, "numeric", 0, 0, None, 0, 0) for name in frame.names))
    forced = {plain.index(feature) for feature in categorical or ()}
    learned = [_learn_column(frame, j, forced=j in forced) for j in range(len(frame.names))]
    features = tuple(feature for feature, _ in learned)
    schema = Schema(features, _resolve_groups(plain, groups or {}))
    return schema, [codes for _, codes in learned]


def _resolve_groups(
    schema: Schema, groups: Mapping[str, Sequence[str | int]]
) -> dict[str, tuple[int, ...]]:
    resolved: dict[str, tuple[int, ...]] = {}
    owner: dict[int, str] = {}
    for name, members in groups.items():
        resolved[name] = tuple(schema.index(member) for member in members)
        for j in resolved[name]:
            if j in owner:
                raise InputError(
                    f"feature {schema.names[j]!r} is in the groups {owner[j]!r} and {name!r}; a feature belongs to one group."
                )
            owner[j] = name
        if name in schema.names and schema.index(name) not in resolved[name]:
            raise InputError(
                f"the group {name!r} has the name of a feature outside it; give the group another name."
            )
    return resolved


def _learn_column(frame: Frame, j: int, *, forced: bool) -> tuple[Feature, FloatArray]:
    column_type = frame.column_type(j)
    values = frame.values(j)
    kind: Kind = "categorical" if forced and column_type.kind != "ordered" else column_type.kind
    categories = _levels(values, column_type, kind)
    if categories is not None:
        position = {level: code for code, level in enumerate(categories)}
        codes = np.array(
            [np.nan if is_missing(value) else position[value] for value in values], dtype=np.float64
        )
    else:
        codes = dates_to_codes(values) if kind == "date" else np.asarray(values, dtype=np.float64)
        if np.isinf(codes).any():
            row = int(np.flatnonzero(np.isinf(codes))[0])
            raise InputError(
                f"feature {frame.names[j]!r} is infinite in row {row}; replace infinite values or mark them missing."
            )
    present = codes[~np.isnan(codes)]
    low, high = (float(present.min()), float(present.max())) if present.size else (np.nan, np.nan)
    feature = Feature(
        name=frame.names[j],
        kind=kind,
        low=low,
        high=high,
        categories=categories,
        missing=float(np.isnan(codes).mean()),
        distinct=int(np.unique(present).size),
        whole_days=kind == "date" and bool((present % DAY == 0).all()),
    )
    return feature, codes


def _levels(values: AnyArray, column_type: ColumnType, kind: Kind) -> tuple[Any, ...] | None:
    """Observed categories: in the dtype's own order where it has one, else sorted."""
    if kind not in ("categorical", "ordered"):
        return None
    seen = {value for value in values.tolist() if not is_missing(value)}
    if column_type.levels is not None:
        return tuple(level for level in column_type.levels if level in seen)
    try:
        return tuple(sorted(seen))
    except TypeError:
        return tuple(sorted(seen, key=str))
