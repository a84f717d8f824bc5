"""A rule on other rows: to how many it applies, and for what share of these the model predicts the same.

Definition. With rows x_1, ..., x_n as they are, not perturbed, and n_A of them obeying the rule A:

    coverage(A) = n_A / n          precision(A) = share of the n_A rows with f(x_i) as the rule says

A rule of one's own need not say what is predicted: then it is the class that most of the n_A rows get, or a number
within half a standard deviation (over the n rows) of their median.

Estimator. The definition; the interval is Wilson's, for rows drawn at random. Against the precision of an anchor,
which is about perturbed rows, this one is about rows that occur: where features are correlated the two differ.

When it misleads: rows that the rule was found on, or that the model was fitted to, flatter it; of few rows little is
known (the interval says how little).

Cost. One model row for each row that obeys the rule; for every row where numbers are predicted and the rule names none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.data import Data, Feature
from pellucid.errors import InputError, nearest
from pellucid.explanations.condition import Condition, as_code, as_number
from pellucid.explanations.rule import Rule, RuleCheck, applies, measured
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import value_name


def check_rule(predictor: Predictor, data: Data, rule: Rule, rows: Any, *, run: Run) -> RuleCheck:
    """Coverage and precision of a rule on some rows."""
    if not isinstance(rule, Rule):
        raise InputError(f"{rule!r} is no rule; give what anchor() returns, or write one: Rule.of('age > 30').")
    other = data.rows(rows)
    rule = replace(rule, conditions=tuple(_checked(condition, data) for condition in rule.conditions))
    holds = applies(rule, other.frame)
    classes = _classes(predictor, rule)
    asked = holds if classes or rule.predicts else np.ones_like(holds)
    found = np.full((len(other), len(predictor.output_names)), np.nan)
    labels = np.full(len(other), None, dtype=object)
    if asked.any():
        full = run.predict(predictor, other.take(np.flatnonzero(asked)), full=True)
        if classes:
            labels[asked] = np.array([*classes, None], dtype=object)[full.argmax(axis=1)]
        else:
            found[asked] = predictor.restrict(full)
    return measured(rule, holds, labels if classes else found)


def _classes(predictor: Predictor, rule: Rule) -> tuple[Any, ...]:
    """The classes to compare by; none where numbers are compared."""
    classes = (predictor.classes or ()) if predictor.task == "classification" else ()
    if len(rule.same) or (not classes and rule.prediction is None):
        return ()
    if not classes:
        raise InputError(
            f"the rule predicts {rule.prediction!r}, but the model predicts numbers; say which numbers count:"
            " Rule.of(text, prediction=(low, high))."
        )
    if rule.prediction is not None and rule.prediction not in classes:
        raise InputError(
            f"the rule predicts the class {rule.prediction!r}, which is none of this model's"
            f"{nearest(str(rule.prediction), map(str, classes))}"
        )
    return tuple(classes)


def _checked(condition: Condition, data: Data) -> Condition:
    """The condition with the column it is about; refused on a feature that is not there, or on what it cannot be."""
    feature = data.schema.features[data.schema.index(condition.feature)]
    if condition.kind == "interval" and feature.categories is not None:
        raise InputError(
            f"feature {feature.name!r} has levels, not numbers: {condition.words!r} cannot hold; list the levels that"
            f" are meant: {feature.name} in [{', '.join(value_name(level) for level in feature.categories[:3])}]."
        )
    for level in condition.levels:
        _check_level(feature, level)
    return replace(condition, column=feature.column)


def _check_level(feature: Feature, level: Any) -> None:
    if feature.categories is not None:
        if level not in feature.categories:
            known = nearest(str(level), map(str, feature.categories))
            raise InputError(f"feature {feature.name!r} has no level {level!r}{known}")
        return
    allowed = {"boolean": "yes or no", "date": "a date such as 2024-05-31"}.get(feature.kind, "a number")
    try:
        code = as_code(level) if feature.kind == "date" else as_number(level)
        fits = code in (0.0, 1.0) if feature.kind == "boolean" else np.isfinite(code)
    except (KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError(f"feature {feature.name!r} is {feature.kind} and cannot be {level!r}; give {allowed}.")
