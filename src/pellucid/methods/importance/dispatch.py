"""Which method measures importance, and which options it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import one_of
from pellucid.data import Data
from pellucid.diagnostics.by_measure import comparison_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Importance, ImportanceComparison, changed
from pellucid.methods.importance.conditional_permutation import conditional_permutation
from pellucid.methods.importance.drop import drop
from pellucid.methods.importance.folds import folds
from pellucid.methods.importance.pdp_importance import pdp_importance
from pellucid.methods.importance.permutation import permutation_importance
from pellucid.methods.importance.pimp import pimp
from pellucid.methods.importance.request import DEFAULTS, Request
from pellucid.methods.importance.sage import sage
from pellucid.methods.importance.shap_importance import shap_importance
from pellucid.methods.importance.shapley_effects import shapley_effects
from pellucid.methods.importance.sobol import anova_importance, sobol
from pellucid.models import Predictor
from pellucid.runner import Cost, Run
from pellucid.words import listed

Method = Literal["permutation", "conditional", "shap", "pdp", "anova", "drop", "sobol", "shapley-effects", "sage"]


def _permutation(request: Request) -> Importance:
    q = request
    if q.refit is not None and q.folds is None and not q.p_values:
        raise InputError(
            "refit= fits the model again, which method='permutation' does with p_values=True or folds= only."
        )
    found = (
        folds(q)
        if q.folds is not None
        else permutation_importance(
            q.predictor,
            q.data,
            loss=q.loss,
            compare=q.compare,
            repeats=q.repeats,
            scheme=q.scheme,
            holdout=q.holdout,
            run=q.run,
        )
    )
    return pimp(q, found) if q.p_values else found


def _pdp(request: Request) -> Importance:
    return pdp_importance(request.predictor, request.data, grid=request.grid, at=request.at, run=request.run)


_METHODS: dict[str, tuple[Callable[[Request], Importance], tuple[str, ...]]] = {
    "permutation": (_permutation, ("loss", "compare", "repeats", "scheme", "p_values", "holdout", "folds", "refit")),
    "conditional": (conditional_permutation, ("loss", "compare", "repeats")),
    "shap": (shap_importance, ("budget", "tolerance")),
    "pdp": (_pdp, ("grid", "at")),
    "anova": (anova_importance, ("ranges", "budget", "tolerance")),
    "drop": (drop, ("loss", "compare", "folds", "refit")),
    "sobol": (sobol, ("ranges", "budget", "tolerance")),
    "shapley-effects": (shapley_effects, ("budget", "tolerance")),
    "sage": (sage, ("loss", "budget", "tolerance")),
}


def importance(method: Any, request: Request) -> Importance | ImportanceComparison:
    """How much the model relies on each feature or group; several methods give a comparison."""
    if isinstance(method, list | tuple):
        names = list(method)
        _check_several(names)
        _refuse_unused(names, request)
        return _compared(names, request)
    one_of("method", method, _METHODS)
    _refuse_unused([method], request)
    return _one(method, request)


def _one(method: str, request: Request) -> Importance:
    """One method, with the options it takes."""
    measure, takes = _METHODS[method]
    return measure(request.only(takes))


def _check_several(names: list[Any]) -> None:
    for name in names:
        one_of("method", name, _METHODS)
    if len(names) < 2:
        raise InputError("a list of methods compares them, so give at least two, such as ['permutation', 'shap'].")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"method {twice!r} is in the list twice; give different methods.")


def _refuse_unused(names: list[str], request: Request) -> None:
    """An option that none of the methods reads would be lost without a word."""
    taken = {option for name in names for option in _METHODS[name][1]}
    for option in request.given():
        if option not in taken:
            asked = f"method={names[0]!r}" if len(names) == 1 else f"any of {listed(names, 9)}"
            users = [name for name, (_, takes) in _METHODS.items() if option in takes]
            raise InputError(
                f"{option}= is not used by {asked} (it takes {listed([o for o in DEFAULTS if o in taken], 9)}); leave"
                f" it out, or use {'method' if len(users) == 1 else 'one of the methods'} {listed(users, 9)}."
            )


# -- several measures beside each other ------------------------------------------------------------
#
# Several measures of importance on the same model and rows, to see where they agree and where not.
#
# Definition. Every method answers by itself, with those of the given options that it takes. What is compared is the
# order of the features (Kendall's tau-b, 1938; the overlap of the most important ones) and their shares: values above
# the neutral one, of measures in squared units (mse, log loss, variances) the roots, divided by their sum. By roots a
# linear model has the same shares by every measure, so that a difference says something about the model or the data
# rather than about units.
#
# Several outputs are averaged for the comparison; the single results are in `parts`.
#
# When it misleads: agreement is no proof. Measures that ask the model about the same unlikely rows agree on them.
#
# Cost. Those of the methods together.


def _compared(methods: list[str], request: Request) -> ImportanceComparison:
    """Each method's importances side by side; after an interruption those of the methods that were reached."""
    run, parts, spent = request.run, [], request.run.cost()
    for method in methods:
        found = _one(method, request)
        now = run.cost()
        parts.append(changed(found, cost=_difference(now, spent)))
        spent = now
        if run.interrupted:
            break
    result = side_by_side(parts, request.predictor, request.data, run)
    settings = {"method": "comparison", "methods": list(methods), "random_state": run.seed}
    return run.finish(result, settings=settings)


def side_by_side(parts: Sequence[Importance], predictor: Predictor, data: Data, run: Run) -> ImportanceComparison:
    """Measures that are known already, one column each, with what is to be said about where they disagree."""
    first, methods = parts[0], tuple(part.method for part in parts)
    values, errors = (
        np.stack([_overall(part, field, len(first.feature_names)) for part in parts], axis=1)
        for field in ("values", "se")
    )
    result = ImportanceComparison(
        values=values,
        se=errors,
        methods=methods,
        parts=tuple(parts),
        header=Header(
            feature_names=first.feature_names,
            output_names=first.output_names,
            scale="importance",
            cost=Cost(0, 0.0, 0, 0.0),
            settings={"method": "comparison", "methods": list(methods)},
            library=first.library,
        ),
    )
    return changed(result, caveats=comparison_caveats(result, predictor, data, run))


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
        after.interrupted,
    )
