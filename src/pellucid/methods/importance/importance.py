"""Which method measures importance, and which options it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pellucid.errors import InputError, nearest
from pellucid.explanations import Importance, ImportanceComparison
from pellucid.methods.importance.anova_importance import anova_importance
from pellucid.methods.importance.comparison import compare_measures
from pellucid.methods.importance.conditional_permutation import conditional_permutation
from pellucid.methods.importance.drop import drop
from pellucid.methods.importance.folds import folds
from pellucid.methods.importance.pdp_importance import pdp_importance
from pellucid.methods.importance.permutation import permutation_importance
from pellucid.methods.importance.pimp import pimp
from pellucid.methods.importance.request import DEFAULTS, Question
from pellucid.methods.importance.sage import sage
from pellucid.methods.importance.shap_importance import shap_importance
from pellucid.methods.importance.shapley_effects import shapley_effects
from pellucid.methods.importance.sobol import sobol
from pellucid.words import listed

Method = Literal["permutation", "conditional", "shap", "pdp", "anova", "drop", "sobol", "shapley-effects", "sage"]


def _permutation(question: Question) -> Importance:
    q = question
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


def _pdp(question: Question) -> Importance:
    return pdp_importance(question.predictor, question.data, grid=question.grid, run=question.run)


_METHODS: dict[str, tuple[Callable[[Question], Importance], tuple[str, ...]]] = {
    "permutation": (_permutation, ("loss", "compare", "repeats", "scheme", "p_values", "holdout", "folds", "refit")),
    "conditional": (conditional_permutation, ("loss", "compare", "repeats")),
    "shap": (shap_importance, ("budget", "tolerance")),
    "pdp": (_pdp, ("grid",)),
    "anova": (anova_importance, ("budget", "tolerance")),
    "drop": (drop, ("loss", "compare", "folds", "refit")),
    "sobol": (sobol, ("budget", "tolerance")),
    "shapley-effects": (shapley_effects, ("budget", "tolerance")),
    "sage": (sage, ("loss", "budget", "tolerance")),
}


def importance(method: Any, question: Question) -> Importance | ImportanceComparison:
    """How much the model relies on each feature or group; several methods give a comparison."""
    if isinstance(method, list | tuple):
        names = list(method)
        _check_several(names)
        _refuse_unused(names, question)
        return compare_measures(names, question, _one)
    _known(method)
    _refuse_unused([method], question)
    return _one(method, question)


def _one(method: str, question: Question) -> Importance:
    """One method, with the options it takes."""
    measure, takes = _METHODS[method]
    return measure(question.only(takes))


def _known(method: Any) -> None:
    if not isinstance(method, str) or method not in _METHODS:
        raise InputError(f"method={method!r} is not known{nearest(str(method), _METHODS)}")


def _check_several(names: list[Any]) -> None:
    for name in names:
        _known(name)
    if len(names) < 2:
        raise InputError("a list of methods compares them, so give at least two, such as ['permutation', 'shap'].")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"method {twice!r} is in the list twice; give different methods.")


def _refuse_unused(names: list[str], question: Question) -> None:
    """An option that none of the methods reads would be lost without a word."""
    taken = {option for name in names for option in _METHODS[name][1]}
    for option in question.given():
        if option not in taken:
            asked = f"method={names[0]!r}" if len(names) == 1 else f"any of {listed(names, 9)}"
            users = [name for name, (_, takes) in _METHODS.items() if option in takes]
            raise InputError(
                f"{option}= is not used by {asked} (it takes {listed([o for o in DEFAULTS if o in taken], 9)}); leave"
                f" it out, or use {'method' if len(users) == 1 else 'one of the methods'} {listed(users, 9)}."
            )
