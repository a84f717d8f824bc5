"""Which surrogate, of which size, and everything that is said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import fraction, is_whole, whole
from pellucid.data import Data
from pellucid.diagnostics.surrogate import surrogate_caveats, surrogates_caveats
from pellucid.errors import InputError, nearest
from pellucid.explanations import Header
from pellucid.explanations.surrogate import SizeCurve, Surrogate, Surrogates
from pellucid.methods.surrogate import linear, tree
from pellucid.methods.surrogate.estimator import EstimatorFitter, FittedEstimator
from pellucid.methods.surrogate.fitting.fidelity import Fidelity, Fitter, fidelity, overall, r_squared
from pellucid.methods.surrogate.fitting.replacement import replacement
from pellucid.methods.surrogate.fitting.subgroups import subgroups
from pellucid.methods.surrogate.fitting.task import Task, task_of
from pellucid.methods.surrogate.linear import FittedLines, LinearFitter
from pellucid.methods.surrogate.tree import FittedTree, TreeFitter
from pellucid.models import Predictor
from pellucid.models.clone import is_estimator
from pellucid.runner import Run

KINDS = ("tree", "linear")


def surrogate(
    predictor: Predictor,
    data: Data,
    kind: Any = "tree",
    *,
    rows: Any = None,
    weights: Any = None,
    near: Any = None,
    size: Any = None,
    folds: Any = 5,
    named: Mapping[str, Callable[[], Any]] | None = None,
    run: Run,
) -> Surrogate | Surrogates:
    """A surrogate, or several side by side where ``kind`` is a list; ``named`` makes estimators that go by a name."""
    several = isinstance(kind, list | tuple)
    kinds = list(kind) if several else [kind]
    if not kinds:
        raise InputError("the list of kinds is empty; give at least one, such as kind=['tree', 'linear'].")
    known = named or {}
    for one in kinds:
        _known(one, (*KINDS, *known))
    wanted = _size(size)
    task, noted = task_of(predictor, data, rows, weights, near, folds, run)
    settings = {
        "method": "surrogate",
        "random_state": run.seed,
        "folds": task.folds,
        "rows": len(task),
        "size": size,
        **noted,
    }
    chance = _chance(predictor, task, run)
    made = [(one, known[one]() if isinstance(one, str) and one in known else one) for one in kinds]
    found = [_one(predictor, data, task, one, wanted, settings, chance, run) for one in made]
    if not several:
        return found[0]
    header = replace(found[0].header, caveats=(), settings={**settings, "kinds": [one.kind for one in found]})
    result = Surrogates(
        header=header,
        values=np.stack([one.values for one in found]),
        se=np.stack([one.se for one in found]),
        members=tuple(found),
    )
    return run.finish(result, surrogates_caveats(found))


def _one(
    predictor: Predictor,
    data: Data,
    task: Task,
    named: tuple[Any, Any],
    wanted: float | None,
    settings: Mapping[str, Any],
    chance: float | None,
    run: Run,
) -> Surrogate:
    fixed = None if wanted is None or wanted < 1 else int(wanted)
    given, kind = named
    name = given if isinstance(given, str) else _name(given)
    fitter = _fitter(predictor, task, kind, fixed, run)
    found = fidelity(task, fitter, run)
    size = _chosen(found, wanted, fixed, fitter)
    held = found.held_out_predictions(task, size)
    values, se = r_squared(task.target, held, task.weights)
    everything, everything_se = overall(task, held)
    place = int(np.flatnonzero(found.sizes == size)[0])
    result = Surrogate(
        header=Header.of(predictor, task.data, run, {**settings, "kind": name}, feature_names=task.data.schema.names),
        values=values,
        se=se,
        kind=name,
        size=size,
        overall=everything,
        overall_se=everything_se,
        fitted=float(found.fitted[place]),
        curve=SizeCurve(
            sizes=found.sizes, held_out=found.held_out, se=found.se, fitted=found.fitted, by_output=found.by_output
        ),
        subgroups=subgroups(task, held, run),
        replacement=replacement(predictor, task, held),
        **_looks(fitter, found, size, held, predictor, run),
    )
    return run.finish(result, surrogate_caveats(predictor, data, run, result, chance))


def _looks(
    fitter: Fitter, found: Fidelity, size: int, held: FloatArray, predictor: Predictor, run: Run
) -> dict[str, Any]:
    """What the surrogate looks like."""
    if isinstance(fitter, TreeFitter) and isinstance(found.whole, FittedTree):
        whole_fit, drawn = found.whole, tree.described(fitter, found.whole, size, held, predictor)
        other = run.unless_interrupted(lambda: tree.other_splits(fitter, whole_fit, drawn, run), float("nan"))
        return {"tree": drawn, "other_splits": other}
    if isinstance(fitter, LinearFitter) and isinstance(found.whole, FittedLines):
        return {"terms": linear.described(fitter, found.whole, size)}
    if isinstance(found.whole, FittedEstimator):
        return {"inside": _inside(found.whole)}
    return {}


def _inside(fitted: FittedEstimator) -> Any:
    """What a glass box says of itself, of the first output."""
    explain = getattr(fitted.models[0], "explain", None)
    return explain() if callable(explain) else None


def _fitter(predictor: Predictor, task: Task, kind: Any, size: int | None, run: Run) -> Fitter:
    if kind == "tree":
        return TreeFitter.of(task, size)
    if kind == "linear":
        return LinearFitter.of(task, size)
    return EstimatorFitter(task, kind, predictor, seed=run.seed)


def _chosen(found: Fidelity, wanted: float | None, fixed: int | None, fitter: Fitter) -> int:
    """The size that is shown: the one asked for, or the smallest with the R2 asked for (the best where none has it)."""
    sizes = found.sizes
    if wanted is not None and wanted < 1:
        enough = np.flatnonzero(found.held_out >= wanted)
        return int(sizes[enough[0]] if len(enough) else sizes[int(np.argmax(found.held_out))])
    usual = tree.LEAVES if isinstance(fitter, TreeFitter) else int(sizes[-1])
    below = sizes[sizes <= (usual if fixed is None else fixed)]
    return int(below[-1] if len(below) else sizes[0])


def _size(size: Any) -> float | None:
    if size is None:
        return None
    if is_whole(size):
        return float(whole("size", size, least=1))
    return fraction("size", size, also="a whole number of leaves, features or terms, or None")


def _known(kind: Any, names: Sequence[str]) -> None:
    if isinstance(kind, str):
        if kind not in names:
            raise InputError(f"kind={kind!r} is not known{nearest(kind, names)} An estimator works too.")
    elif not is_estimator(kind):
        raise InputError(
            f"kind must be one of {', '.join(names)}, or an estimator with fit and predict, got a value of type"
            f" {type(kind).__name__}."
        )


def _name(estimator: Any) -> str:
    steps = getattr(estimator, "steps", None)
    return _name(steps[-1][1]) if isinstance(steps, list) and steps else type(estimator).__name__


def _chance(predictor: Predictor, task: Task, run: Run) -> float | None:
    from pellucid.diagnostics.fitted_rows import chance_of_unseen

    if task.data.y is None or not run.checks:
        return None
    return chance_of_unseen(predictor, task.data, run)
