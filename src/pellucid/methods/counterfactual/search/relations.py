"""Relations between columns that every answer has to obey, read from text.

    a <= b                                    two columns
    2*a + b - 3 <= 10                         linear, with numbers
    age >= 18 and housing in [own, rent]      conditions as in rules (`Rule.of`)
    if housing = 'own' then age >= 18         where the first holds, so must the second

A comparison in which every name is a column of numbers is linear, any other a condition. What is missing breaks no
relation, and meets no "if".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data.schema import Schema
from pellucid.errors import InputError
from pellucid.explanations.condition import Condition, read_conditions

_IF = re.compile(r"\s*if\s+(?P<when>.+?)\s+then\s+(?P<then>.+)", re.IGNORECASE | re.DOTALL)
_SIDES = re.compile(r"(<=|>=|==|!=|≤|≥|≠|=|<|>)")
_TERM = re.compile(
    r"\s*(?P<sign>[+-])?\s*(?:(?P<factor>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*(?:(?P<times>\*)\s*)?)?"
    r"(?P<name>'[^']+'|\"[^\"]+\"|`[^`]+`|[^\W\d][^\s<>=!≤≥≠+*,;()'\"`-]*)?\s*"
)
_SIGNS: dict[str, Callable[[FloatArray, float], BoolArray]] = {
    "<=": lambda value, slack: value <= slack,
    ">=": lambda value, slack: value >= -slack,
    "<": lambda value, slack: value < -slack,
    ">": lambda value, slack: value > slack,
    "=": lambda value, slack: np.abs(value) <= slack,
    "≠": lambda value, slack: np.abs(value) > slack,
}
_SAME = {"≤": "<=", "≥": ">=", "==": "=", "!=": "≠"}
_SLACK = 1e-9  # of the size of the terms: 0.1 + 0.2 is 0.3


@dataclass(frozen=True, eq=False)
class Relation:
    """One relation: the ``columns`` that it is about, how it is said, and for which rows of codes it holds."""

    columns: tuple[int, ...]
    words: str
    holds: Callable[[FloatArray], BoolArray]
    linear: Linear | None = None


@dataclass(frozen=True, eq=False)
class Linear:
    """sum_j factors[j] * code_j + constant, compared with 0 by ``sign``."""

    factors: dict[int, float]
    constant: float
    sign: str

    def holds(self, rows: FloatArray) -> BoolArray:
        """For which rows it holds; those in which a value is missing break nothing."""
        terms = np.stack([factor * rows[:, j] for j, factor in self.factors.items()])
        value = terms.sum(axis=0) + self.constant
        slack = _SLACK * (np.abs(terms).sum(axis=0) + abs(self.constant))
        with np.errstate(invalid="ignore"):
            return np.asarray(_SIGNS[self.sign](value, slack) | np.isnan(value))


def read_relation(text: Any, schema: Schema) -> Relation:
    """The relation that a text says."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"relations must be texts such as 'a <= b' or \"if a = 'x' then b >= 18\", got {text!r}.")
    try:
        return _read(text, schema)
    except InputError as error:
        raise InputError(f"relations: {error}") from None


def _read(text: str, schema: Schema) -> Relation:
    said = _IF.fullmatch(text)
    if said is None:
        return _joined(text, schema)
    when, then = _joined(said["when"], schema, strict=True), _joined(said["then"], schema)
    columns = tuple(dict.fromkeys((*when.columns, *then.columns)))
    return Relation(columns, text.strip(), lambda rows: ~when.holds(rows) | then.holds(rows))


def _joined(text: str, schema: Schema, *, strict: bool = False) -> Relation:
    """Conditions joined by "and"; with ``strict``, what is missing does not meet them."""
    linear = _linear(text, schema)
    if linear is not None:
        columns = tuple(linear.factors)

        def compared(rows: FloatArray) -> BoolArray:
            known = ~np.isnan(rows[:, list(columns)]).any(axis=1)
            return np.asarray(linear.holds(rows) & known if strict else linear.holds(rows))

        return Relation(columns, text.strip(), compared, linear)
    return _conditions(read_conditions(text), text, schema, strict)


def _conditions(conditions: tuple[Condition, ...], text: str, schema: Schema, strict: bool) -> Relation:
    places = [schema.index(condition.feature) for condition in conditions]
    for condition, j in zip(conditions, places, strict=True):
        _check(condition, j, schema, text)

    def holds(rows: FloatArray) -> BoolArray:
        met = np.ones(len(rows), dtype=np.bool_)
        for condition, j in zip(conditions, places, strict=True):
            found = condition.holds(schema.features[j].plain(rows[:, j]))
            met &= found if strict or condition.kind == "missing" else found | np.isnan(rows[:, j])
        return met

    return Relation(tuple(dict.fromkeys(places)), text.strip(), holds)


def _check(condition: Condition, j: int, schema: Schema, text: str) -> None:
    """Refuse levels that the feature does not have, and ends of intervals of what has no order."""
    feature = schema.features[j]
    if condition.kind == "interval" and feature.categories is not None:
        raise InputError(
            f"{feature.name!r} in the relation {text.strip()!r} is a category; compare its levels by = or in."
        )
    if condition.kind == "level":
        for level in condition.levels:
            known = feature.categories is None or any(
                level == own or str(level) == str(own) for own in feature.categories
            )
            if not known or (
                feature.categories is None and feature.kind not in ("date", "boolean") and _is_text(level)
            ):
                raise InputError(
                    f"{level!r} in the relation {text.strip()!r} is no value of {feature.name!r}; give one that it has."
                )


def _is_text(level: Any) -> bool:
    return isinstance(level, str)


def _linear(text: str, schema: Schema) -> Linear | None:
    """A comparison of sums of columns; None where a name is no column of numbers."""
    parts = _SIDES.split(text)
    if len(parts) != 3:
        return None
    left, right = _sum(parts[0], schema), _sum(parts[2], schema)
    if left is None or right is None:
        return None
    factors = dict(left[0])
    for j, factor in right[0].items():
        factors[j] = factors.get(j, 0.0) - factor
    if not factors:
        return None
    return Linear(factors, left[1] - right[1], _SAME.get(parts[1], parts[1]))


def _sum(text: str, schema: Schema) -> tuple[dict[int, float], float] | None:
    factors: dict[int, float] = {}
    constant, at = 0.0, 0
    known = {*schema.names, *schema.readable}
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None or term.end() == at or (at > 0 and term["sign"] is None):
            return None
        name = term["name"]
        factor = float(term["factor"] or 1.0) * (-1.0 if term["sign"] == "-" else 1.0)
        if name is None:
            if term["factor"] is None or term["times"] is not None:
                return None
            constant += factor
        else:
            name = name[1:-1] if name[0] in "'\"`" else name
            if name not in known or schema.features[schema.index(name)].nominal:
                return None
            j = schema.index(name)
            factors[j] = factors.get(j, 0.0) + factor
        at = term.end()
    return (factors, constant) if at else None
