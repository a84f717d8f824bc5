"""Several measures of importance on the same model and rows, to see where they agree and where not.

Definition. Every method answers by itself, with those of the given options that it takes. What is compared is the order
of the features (Kendall's tau-b, 1938; the overlap of the most important ones) and their shares: values above the
neutral one, of measures in squared units (mse, log loss, variances) the roots, divided by their sum. By roots a linear
model has the same shares by every measure, so that a difference says something about the model or the data rather than
about units.

Several outputs are averaged for the comparison; the single results are in `parts`.

When it misleads: agreement is no proof. Measures that ask the model about the same unlikely rows agree on them.

Cost. Those of the methods together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.diagnostics.by_measure import comparison_caveats
from pellucid.explanations import Importance, ImportanceComparison
from pellucid.methods.importance.request import Question
from pellucid.runner import Cost


def compare_measures(
    methods: list[str], question: Question, measure: Callable[[str, Question], Importance]
) -> ImportanceComparison:
    """Each method's importances side by side; after an interruption those of the methods that were reached."""
    run, parts, spent = question.run, [], question.run.cost()
    for method in methods:
        found = measure(method, question)
        now = run.cost()
        parts.append(replace(found, cost=_difference(now, spent)))
        spent = now
        if run.interrupted:
            break
    first = parts[0]
    values, errors = (
        np.stack([_overall(part, field, len(first.feature_names)) for part in parts], axis=1)
        for field in ("values", "se")
    )
    result = ImportanceComparison(
        values=values,
        se=errors,
        methods=tuple(part.method for part in parts),
        parts=tuple(parts),
        feature_names=first.feature_names,
        output_names=first.output_names,
        scale="importance",
        cost=run.cost(),
        settings={"method": "comparison", "methods": list(methods), "random_state": run.seed},
        library=first.library,
    )
    caveats = comparison_caveats(result, question.predictor, question.data, run)
    return replace(result, caveats=caveats, cost=run.cost())


def _overall(part: Importance, field: str, n: int) -> FloatArray:
    """One number per feature: the mean over outputs, and of its errors as if they were the same."""
    found: FloatArray = getattr(part, field)
    return found.reshape(n, -1).mean(axis=1)


def _difference(after: Cost, before: Cost) -> Cost:
    return Cost(
        after.model_rows - before.model_rows,
        after.model_seconds - before.model_seconds,
        after.model_calls - before.model_calls,
        after.total_seconds - before.total_seconds,
        after.check_rows - before.check_rows,
    )
