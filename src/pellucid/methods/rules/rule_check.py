"""A rule on other rows: to how many it applies, and for what share of these the model predicts the same.

Definition. With rows x_1, ..., x_n as they are, not perturbed, and n_A of them obeying the rule A:

    coverage(A) = n_A / n          precision(A) = share of the n_A rows with f(x_i) as the rule says

Estimator. The definition; the interval is Wilson's, for rows drawn at random. Against the precision of the rule itself,
which is about perturbed rows, this one is about rows that occur: where features go together the two differ.

When it misleads: rows that the rule was found on, or that the model was fitted to, flatter it; of few rows little is
known (the interval says how little).

Cost. One model row for each row that obeys the rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.explanations.rule import Rule, RuleCheck
from pellucid.models import Predictor
from pellucid.runner import Run


def check_rule(predictor: Predictor, data: Data, rule: Rule, rows: Any, *, run: Run) -> RuleCheck:
    """Coverage and precision of a rule on some rows."""
    other = data.rows(rows)
    table = other.frame.native
    applies = np.flatnonzero(rule.applies(table))
    classes = () if len(rule.same) else _classes(predictor, rule)
    predictions = np.full(
        (len(other), len(rule.same) or 1), np.nan
    )  # of rows that it does not apply to, none is asked for
    if len(applies):
        full = run.predict(predictor, other.take(applies), full=True)
        predictions[applies] = full.argmax(axis=1)[:, None] if classes else predictor.restrict(full)
    if not classes:
        return rule.check(table, predictions)
    return rule.check(table, [None if np.isnan(k) else classes[int(k)] for k in predictions[:, 0]])


def _classes(predictor: Predictor, rule: Rule) -> tuple[Any, ...]:
    classes = predictor.classes or ()
    if rule.prediction not in classes:
        raise InputError(
            f"the rule predicts the class {rule.prediction!r}, which is none of this model's; check it with the"
            " explainer that it comes from."
        )
    return classes
