"""Clauses in words: as conditions of a rule, which any table can be checked against."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.data.schema import Feature, Schema
from pellucid.explanations.condition import Condition
from pellucid.explanations.rule import Rule
from pellucid.glassbox.rules.clauses import Clause, Part
from pellucid.words import value_name


def conditions(clause: Clause, schema: Schema) -> tuple[Condition, ...]:
    """The parts of a clause as conditions. Where missing values meet a part as well, its words say so."""
    return tuple(_condition(part, schema.features[part.feature]) for part in clause)


def rule(clause: Clause, value: FloatArray, schema: Schema, classes: AnyArray | None) -> Rule:
    """A clause as a rule that predicts the commonest of the classes, or, without classes, a number."""
    said = conditions(clause, schema)
    if classes is not None:
        return Rule(conditions=said, prediction=classes.tolist()[int(value.argmax())], columns_of_data=schema.names)
    return Rule(conditions=said, same=np.array([[value[0], value[0]]]), columns_of_data=schema.names)


def words(clause: Clause, schema: Schema) -> str:
    """A clause in one line."""
    return " AND ".join(condition.words for condition in conditions(clause, schema))


def _condition(part: Part, feature: Feature) -> Condition:
    found = _known(part, feature)
    if part.missing and feature.missing > 0 and found.kind != "missing":
        return replace(found, words=f"({found.words} or missing)", or_missing=True)
    return found


def _known(part: Part, feature: Feature) -> Condition:
    name: dict[str, Any] = {"feature": feature.name, "column": feature.column}
    if part.nothing_but_missing:
        return Condition(kind="missing", **name)
    if part.levels is not None and feature.categories is not None:
        inside = tuple(feature.categories[k] for k in part.levels)
        outside = tuple(c for k, c in enumerate(feature.categories) if k not in part.levels)
        if len(outside) < len(inside) or not inside:
            return Condition(kind="level", levels=outside, negated=True, **name)
        return Condition(kind="level", levels=inside, **name)
    if feature.kind == "boolean":
        yes = part.low >= 0
        return Condition(kind="level", levels=(yes,), words=f"{feature.name} = {'yes' if yes else 'no'}", **name)
    if np.isinf(part.low) and np.isinf(part.high):
        return Condition(kind="missing", negated=not part.missing or part.high > part.low, **name)
    said = _interval(part, feature)
    return Condition(kind="interval", low=part.low, high=part.high, words=said, **name)


def _interval(part: Part, feature: Feature) -> str:
    if feature.kind == "ordered" and feature.categories is not None:
        inside = [value_name(c) for k, c in enumerate(feature.categories) if part.low < k <= part.high]
        return f"{feature.name} in [{', '.join(inside)}]"
    low, high = (
        value_name(feature.decode(np.array([end]))[0]) if feature.kind == "date" and np.isfinite(end) else f"{end:.6g}"
        for end in (part.low, part.high)
    )
    if np.isfinite(part.low) and np.isfinite(part.high):
        return f"{low} < {feature.name} ≤ {high}"
    return f"{feature.name} > {low}" if np.isfinite(part.low) else f"{feature.name} ≤ {high}"
