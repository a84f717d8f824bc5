"""What the values of each feature may become: learnt from the data, narrowed by the user.

A number keeps the step of the data: whole numbers stay whole, decimals have as many places as in the data, days stay
days. It stays within the observed range unless the user gives another. A category takes any level that was observed.
The row's own value is always allowed. Columns of a group change together, to values that some row has together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import is_number
from pellucid.data import Data
from pellucid.data.schema import DAY, Feature, Schema
from pellucid.errors import InputError, nearest

MOST_VALUES = 10_000  # listed one by one; of more, low, high and step say as much
MOST_DECIMALS = 6
MOST_COMBINATIONS = 5_000


@dataclass(frozen=True, eq=False)
class Choices:
    """The allowed codes of one feature: ``values`` where they are few, ``low`` to ``high`` by ``step`` (0: any).

    ``own`` is the code of the row, which is always allowed; ``decimals`` the places that a step leaves.
    """

    own: float
    nominal: bool
    low: float
    high: float
    step: float = 0.0
    decimals: int = 0
    values: FloatArray | None = None

    @property
    def fixed(self) -> bool:
        """Whether the row's own value is the only one."""
        if self.values is not None:
            return not (self.values != self.own).any()
        return not self.low < self.high and self.low == self.own

    def snap(self, codes: FloatArray) -> FloatArray:
        """The allowed code nearest to each; the row's own where none is, and where it was asked for."""
        same = (codes == self.own) | np.isnan(codes)
        if self.values is not None:
            values = self.values[~np.isnan(self.values)]
            found = _among(codes, values, self.own, nominal=self.nominal)
        else:
            found = np.clip(self._rounded(codes), self.low, self.high)
        return np.where(same, self.own, found) + 0.0  # no negative zero

    def _rounded(self, codes: FloatArray) -> FloatArray:
        if self.step == 0.0:
            return codes
        return np.asarray(np.round(np.round(codes / self.step) * self.step, self.decimals))

    def allows(self, codes: FloatArray) -> FloatArray:
        """Which codes are allowed."""
        same = (codes == self.own) | (np.isnan(codes) & np.isnan(self.own))
        if self.values is not None:
            return np.asarray(same | np.isin(codes, self.values))
        with np.errstate(invalid="ignore"):
            inside = (codes >= self.low) & (codes <= self.high) & (self._rounded(codes) == codes)
        return np.asarray(same | inside)


def _among(codes: FloatArray, values: FloatArray, own: float, *, nominal: bool) -> FloatArray:
    """The nearest of some sorted values; of levels, the same one or the row's own."""
    if not len(values):
        return np.full(len(codes), own)
    after = np.clip(np.searchsorted(values, codes), 1 if len(values) > 1 else 0, len(values) - 1)
    before = np.maximum(after - 1, 0)
    found = np.where(np.abs(values[before] - codes) <= np.abs(values[after] - codes), values[before], values[after])
    return np.where(found == codes, found, own) if nominal else found


@dataclass(frozen=True, eq=False)
class Group:
    """Columns that change together, to one of ``combinations`` (n, columns); the row's own is among them."""

    name: str
    columns: tuple[int, ...]
    combinations: FloatArray


def learn_step(data: Data, j: int) -> tuple[float, int]:
    """The step and the decimals of a feature: (0, 0) where its values have more places than are told apart."""
    feature = data.schema.features[j]
    if feature.kind in ("integer", "boolean"):
        return 1.0, 0
    if feature.kind == "date":
        return (DAY if feature.whole_days else 1.0), 0
    values = data.codes(j)
    values = values[~np.isnan(values)]
    single = len(values) > 0 and bool((values.astype(np.float32) == values).all())
    for decimals in range(MOST_DECIMALS + 1):
        apart = np.abs(values - np.round(values, decimals))
        if (apart <= (1.2e-7 if single else 1e-14) * np.abs(values)).all():
            return float(10.0**-decimals), decimals
    return 0.0, 0


def read_choices(
    data: Data,
    x: FloatArray,
    *,
    fixed: Any = (),
    ranges: Mapping[Any, Any] | None = None,
    monotone: Mapping[Any, str] | None = None,
) -> tuple[Choices, ...]:
    """The choices of every feature, by the data and by what the user says."""
    schema = data.schema
    held = read_names("fixed", fixed, schema)
    given = {_column("ranges", name, schema): wanted for name, wanted in _mapping("ranges", ranges).items()}
    ways = {_column("monotone", name, schema): way for name, way in _mapping("monotone", monotone).items()}
    found = []
    for j, feature in enumerate(schema.features):
        choices = _learnt(data, j, float(x[j]))
        if j in given:
            choices = _narrowed(choices, feature, given[j])
        if j in ways:
            choices = _one_way(choices, feature, ways[j])
        if j in held:
            own = choices.own
            choices = replace(choices, low=own, high=own, values=np.array([own]))
        found.append(choices)
    return tuple(found)


def read_names(what: str, given: Any, schema: Schema) -> tuple[int, ...]:
    """The columns of features and groups that are given by name."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise InputError(f"{what} must be names of features, such as ('age', 'sex'), got {given!r}.")
    found: list[int] = []
    for name in names:
        if isinstance(name, str) and name in schema.groups and name not in schema.names:
            found.extend(schema.groups[name])
        elif isinstance(name, str) and name not in schema.names and name not in schema.readable:
            raise InputError(f"{what}: there is no feature {name!r}{nearest(name, (*schema.columns, *schema.groups))}")
        else:
            found.append(_column(what, name, schema))
    return tuple(dict.fromkeys(found))


def _column(what: str, name: Any, schema: Schema) -> int:
    """The position of a feature; an error says in which argument it was named."""
    try:
        return schema.index(name)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None


def _mapping(what: str, given: Any) -> Mapping[Any, Any]:
    if given is None or isinstance(given, Mapping):
        return given or {}
    example = "{'age': 'up'}" if what == "monotone" else "{'amount': (0, 5000)}"
    raise InputError(f"{what} must be a dict of features, such as {example}, got {given!r}.")


def _learnt(data: Data, j: int, own: float) -> Choices:
    feature = data.schema.features[j]
    if feature.nominal:
        seen = np.unique(data.codes(j)[~np.isnan(data.codes(j))])
        return Choices(own, True, float(seen.min(initial=0)), float(seen.max(initial=0)), values=_with(seen, own))
    if feature.empty:
        return Choices(own, False, own, own, values=np.array([own]))
    step, decimals = learn_step(data, j)
    return _stepped(Choices(own, False, feature.low, feature.high, step, decimals))


def _with(values: FloatArray, own: float) -> FloatArray:
    return np.unique(np.append(values, own))


def _stepped(choices: Choices) -> Choices:
    """The ends moved inwards onto steps, and the values listed where they are few."""
    step = choices.step
    if step == 0.0:
        return choices
    first, last = np.ceil(choices.low / step - 1e-9) + 0.0, np.floor(choices.high / step + 1e-9) + 0.0
    low, high = (float(np.round(end * step, choices.decimals)) for end in (first, last))
    values = None
    if last - first < MOST_VALUES:
        values = _with(np.round(np.arange(first, last + 1) * step, choices.decimals), choices.own)
    return replace(choices, low=low, high=high, values=values)


def _narrowed(choices: Choices, feature: Feature, given: Any) -> Choices:
    """A range (low, high), either end None, or a list of allowed values."""
    pair = isinstance(given, tuple) and len(given) == 2 and not feature.nominal
    if pair:
        low, high = (_code(feature, end) for end in given)
        low, high = choices.low if np.isnan(low) else low, choices.high if np.isnan(high) else high
        if low > high:
            raise InputError(
                f"ranges[{feature.name!r}] has its low end above its high one: {given!r}; turn them round."
            )
        return _stepped(replace(choices, low=low, high=high, values=None))
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"ranges[{feature.name!r}] must be (low, high) or a list of allowed values, got {given!r}.")
    listed = [*given]
    if not listed:
        raise InputError(f"ranges[{feature.name!r}] is empty; name the feature in fixed= to keep its value.")
    codes = np.array([_code(feature, value) for value in listed])
    return replace(choices, low=float(codes.min()), high=float(codes.max()), values=_with(codes, choices.own))


def _code(feature: Feature, value: Any) -> float:
    if value is None:
        return float("nan")
    if feature.categories is None and feature.kind != "date" and is_number(value):
        return float(value)
    cell = np.empty(1, dtype=object)
    cell[0] = value
    return float(feature.encode(cell)[0])


def _one_way(choices: Choices, feature: Feature, way: Any) -> Choices:
    if way not in ("up", "down"):
        raise InputError(f"monotone[{feature.name!r}] must be 'up' or 'down', got {way!r}.")
    if feature.kind == "categorical":
        raise InputError(f"monotone: {feature.name!r} has levels without order; list those allowed in ranges=.")
    own = choices.own
    if np.isnan(own):
        return choices
    low, high = (
        (max(choices.low, own), max(choices.high, own))
        if way == "up"
        else (min(choices.low, own), min(choices.high, own))
    )
    values = choices.values
    if values is not None:
        values = values[values >= own] if way == "up" else values[values <= own]
    return replace(choices, low=low, high=high, values=values)


def read_groups(data: Data, x: FloatArray, choices: tuple[Choices, ...]) -> tuple[Group, ...]:
    """The groups with what their columns may become together: as in some row, and each value allowed by itself."""
    found = []
    for name, columns in data.schema.groups.items():
        places = list(columns)
        seen = np.unique(np.column_stack([data.codes(j) for j in places]), axis=0)
        seen = seen[~np.isnan(seen).any(axis=1)]
        for place, j in enumerate(places):
            seen = seen[choices[j].allows(seen[:, place])]
        if len(seen) > MOST_COMBINATIONS:
            seen = seen[np.linspace(0, len(seen) - 1, MOST_COMBINATIONS).astype(np.intp)]
        found.append(Group(name, columns, np.unique(np.vstack([seen, x[places]]), axis=0)))
    return tuple(found)
