"""Counterfactuals: the nearest rows for which the model says something else.

Reference. Wachter, Mittelstadt and Russell 2018; Dandl et al. 2020; Karimi et al. 2020.

Definition. Of all rows z that keep the constraints C, those nearest to x for which the prediction is in the target T:

    min d(x, z)   such that   f(z) in T,  z in C

Estimator. The problem is the same for every search (`search.problem`); methods of the literature are choices of
objective and of search (`dispatch`). Whatever a search gives is put into the caller's own types, asked of the model as
it is emitted, and checked against every constraint; only what passes is an answer.

When it misleads:
1. many answers contradict each other, and any of them is "an" explanation (caveat "rashomon");
2. an answer may lie where there are no data (caveat "off-data-answer") or on the edge of the target (caveat "fragile");
3. it says what the model would answer, not what would happen in the world: features that cause nothing may do (caveat
   "model-not-world"), and correlated features are moved apart (caveat "moved-apart");
4. an answer that needs what nobody can change is no advice: say so by ``fixed`` and ``monotone`` (caveat "protected").

Cost. That of the search, at most ``budget`` model rows and ``seconds``; 50 rows for the robustness of each answer;
``refits`` fits; some 700 rows for a ``surface``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.checks import flag, one_of, optional, positive, whole
from pellucid.data import Data
from pellucid.data.distance import RowDistance
from pellucid.diagnostics.counterfactuals import Answers, counterfactual_caveats
from pellucid.errors import InputError
from pellucid.explanations import Counterfactuals, Header, Obstacle, Scene, changed
from pellucid.explanations.counterfactual_words import change_words
from pellucid.methods.counterfactual.dispatch import (
    BUDGETS,
    METHODS,
    Relaxed,
    Request,
    check_options,
    choose,
    nearest_miss,
    obstacles,
    pick,
    search,
    search_quickly,
)
from pellucid.methods.counterfactual.search.constraints import read_names
from pellucid.methods.counterfactual.search.outcomes import outcomes, reached
from pellucid.methods.counterfactual.search.pool import NearestObserved
from pellucid.methods.counterfactual.search.problem import Found, Problem
from pellucid.methods.counterfactual.search.robustness import robustness, under_refits
from pellucid.methods.counterfactual.search.scene import aim, observed, read_surface, surface_of
from pellucid.methods.counterfactual.search.walk_back import undone
from pellucid.models import Predictor
from pellucid.runner import Run


def counterfactuals(
    predictor: Predictor,
    data: Data,
    row: Any,
    target: Any = None,
    *,
    method: Any = "auto",
    n: int = 5,
    fixed: Any = (),
    ranges: Mapping[Any, Any] | None = None,
    monotone: Mapping[Any, str] | None = None,
    relations: Any = (),
    feasible: Any = None,
    max_changes: int | None = None,
    distance: Any = "gower",
    costs: Mapping[Any, Any] | None = None,
    protected: Any = (),
    polish: bool = True,
    best_effort: bool = False,
    budget: int | None = None,
    seconds: float | None = None,
    effort: int | None = None,
    refits: int = 0,
    refit: Any = None,
    surface: Any = None,
    options: Mapping[str, Any] | None = None,
    otherwise: str = "moc",
    run: Run,
) -> Counterfactuals:
    """What would have to be different for the model to predict the target; ``otherwise`` searches what is not read."""
    n, polish, best_effort = whole("n", n), flag("polish", polish), flag("best_effort", best_effort)
    budget, effort = optional(whole, "budget", budget), optional(whole, "effort", effort)
    seconds = optional(positive, "seconds", seconds)
    refits = whole("refits", refits, least=0)
    if refit is not None and not refits:
        raise InputError("refit= fits the model again, which refits= asks for: give refits=10 with it.")
    method, options = one_of("method", method, METHODS), options or {}
    explained = data.rows(row)
    if len(explained) != 1:
        raise InputError(f"row must be one row, got {len(explained)}; ask for the counterfactuals of each by itself.")
    said = {
        "fixed": fixed,
        "ranges": ranges,
        "monotone": monotone,
        "relations": relations,
        "feasible": feasible,
        "max_changes": optional(whole, "max_changes", max_changes),
        "distance": distance,
        "costs": costs,
    }
    watched = read_names("protected", protected, data.schema)
    pair = read_surface(surface, data.schema)
    request = Request(predictor, data, explained, target, run, said)
    problem = request.problem(budget)
    chosen = choose(method, problem, options, otherwise)
    check_options(chosen, options)
    problem.asked.budget = BUDGETS.get(chosen) if budget is None else budget
    if problem.valid(problem.x[None])[0] and problem.allowed(problem.x[None])[0]:
        found = Found(problem.x[None], proven=True, lower=0.0)
    else:
        found = search(problem, chosen, n, options, polish=polish, seconds=seconds, effort=effort)
    rows, table = emitted(problem, found, n)
    why = [] if len(rows) else _in_the_way(request, problem, chosen, budget, seconds)
    miss = 0.0 if len(rows) else nearest_miss(problem)[1]
    if not len(rows) and best_effort:
        rows = _best_effort(problem)
        table = problem.table(rows)
    settings = {
        "method": chosen,
        "target": problem.target.words,
        "n": n,
        **plain_settings(said),
        "protected": [data.schema.names[j] for j in watched],
        "polish": polish,
        "best_effort": best_effort,
        "budget": budget,
        "seconds": seconds,
        "effort": effort,
        "refits": refits,
        **({} if pair is None else {"surface": [data.schema.names[j] for j in pair] or True}),
        **options,
        "random_state": run.seed,
    }
    scores = _scores(problem, rows)
    if refits:
        unknown = np.full(len(rows), np.nan)
        scores["refits"] = run.unless_interrupted(lambda: under_refits(problem, rows, refits, refit), unknown)
    result = _result(problem, found, rows, settings, explained, miss, why, scores)
    if pair is not None:
        with run.until_interrupted():
            result = changed(result, scene=replace(result.scene, surface=surface_of(problem, rows, pair)))
    result = run.finish(result)
    if run.checks:
        limited = budget is not None or seconds is not None or not len(rows)
        early = limited and found.notes.get("ended") == "early" and not run.interrupted
        result = run.finish(result, _caveats(problem, result, rows, watched, early=early))
    object.__setattr__(result, "_native", table)
    return result


def _in_the_way(
    request: Request, problem: Problem, chosen: str, budget: int | None, seconds: float | None
) -> list[Relaxed]:
    """Which constraints block: part of the answer where there is no row, whether or not results are checked."""
    run, why = request.run, list[Relaxed]()
    if run.interrupted:
        return why
    with run.until_interrupted():
        why = obstacles(request, budget, seconds)
        if chosen == "exact":  # which asks the model about no row that misses
            with run.checking():
                search_quickly(problem)
    return why


def emitted(problem: Problem, found: Found, n: int) -> tuple[FloatArray, Any]:
    """The answers that stay valid when they are read from the table that the caller gets."""
    rows = pick(problem, found, n)
    while True:
        table = problem.table(rows)
        if not len(rows):
            return rows, table
        kept = problem.allowed(rows) & _valid_as_emitted(problem, table, rows)
        if kept.all():
            return rows, table
        rows = rows[kept]


def _valid_as_emitted(problem: Problem, table: Any, rows: FloatArray) -> AnyArray:
    """Which rows reach the target; a table of another kind than those that the search asked about is asked again."""
    if problem.emits_what_is_asked and problem.knows(rows):
        return problem.valid(rows)
    full = problem.run.predict(problem.predictor, problem.data.rows(table), full=True)
    miss = problem.target.miss(problem.target.outputs(problem.predictor, full))
    return np.asarray(miss == 0.0).reshape(len(rows))


def _best_effort(problem: Problem) -> FloatArray:
    """The nearest miss, where it is nearer to the target than the row itself, with nothing changed in vain."""
    rows, miss = nearest_miss(problem)
    own = problem.miss(problem.x[None])[0]
    if not len(rows) or miss >= own:
        return rows[:0]
    problem.asked.budget = None  # one row more for each change
    return problem.run.unless_interrupted(lambda: undone(problem, rows[0])[None], rows)


def _result(
    problem: Problem,
    found: Found,
    rows: FloatArray,
    settings: Mapping[str, Any],
    explained: Data,
    miss: float,
    why: list[Relaxed],
    scores: Mapping[str, FloatArray],
) -> Counterfactuals:
    predictor, data = problem.predictor, problem.data
    full = problem.score(rows) if len(rows) else np.empty((0, predictor.width))
    own = problem.score(problem.x[None])
    changed = problem.changed(rows)
    players = problem.players
    often = np.array([changed[:, list(columns)].any(axis=1).mean() if len(rows) else 0.0 for columns in players])
    everything = np.vstack([problem.x, rows])
    lower = None if found.lower is None or (len(rows) and miss) else float(problem.cost.shown(np.array(found.lower)))
    return Counterfactuals(
        cells=tuple(_decoded(data, j, everything[:, j]) for j in range(len(problem.x))),
        column_names=data.schema.names,
        changed=changed,
        predictions=predictor.restrict(full),
        prediction=predictor.restrict(own)[0],
        target=problem.target.words,
        valid=np.asarray(scores["target"] == 0.0),
        scores=scores,
        proven=bool(found.proven and (not miss if len(rows) else not len(found.rows))),
        lower=lower,
        nearest_miss=miss,
        own_miss=float(problem.target.miss(problem.target.outputs(predictor, own))[0]),
        obstacles=tuple(Obstacle(each.constraint, each.distance, _change(problem, each.row)) for each in why),
        hypervolume=float(found.notes.get("hypervolume", np.nan)),
        scene=Scene(observed(data.schema), aim(problem, rows)),
        values=often,
        se=np.zeros(len(often)),
        header=Header.of(predictor, data, problem.run, settings, row_labels=explained.row_labels),
    )


def _decoded(data: Data, j: int, codes: FloatArray) -> AnyArray:
    """Codes as people read them, whole numbers without a fraction where one is missing, too."""
    return data.schema.features[j].decode(codes)


def _change(problem: Problem, row: FloatArray) -> str:
    """What an answer changes, in words."""
    said = []
    for j in np.flatnonzero(problem.changed(row[None])[0]).tolist():
        now, instead = _decoded(problem.data, j, np.array([problem.x[j], row[j]]))
        said.append(change_words(problem.data.schema.names[j], now, instead))
    return " and ".join(said)


def _scores(problem: Problem, rows: FloatArray) -> dict[str, FloatArray]:
    """What is measured of each answer."""
    data, run = problem.data, problem.run
    observed = run.keep("counterfactuals.observed", data, lambda: NearestObserved(data))
    apart, near = run.keep("counterfactuals.apart", data, observed.apart), observed(rows)
    gower = RowDistance.learn(problem.data, "gower").between(rows, problem.x[None])[:, 0]
    robust = problem.run.unless_interrupted(lambda: robustness(problem, rows), np.full(len(rows), np.nan))
    return {
        "distance": problem.cost.shown(problem.cost.total(rows)),
        "target": problem.miss(rows) if len(rows) else np.empty(0),
        "gower": gower,
        "changes": problem.changes(rows).astype(np.float64),
        "nearest": near,
        "plausibility": (apart[None] >= near[:, None] - 1e-12).mean(axis=1) if len(apart) else np.ones(len(rows)),
        "robustness": robust,
    }


def _caveats(
    problem: Problem, result: Counterfactuals, rows: FloatArray, watched: tuple[int, ...], *, early: bool
) -> tuple[Any, ...]:
    pool = problem.answers()
    answers = Answers(
        problem.x, rows, pool, problem.cost.total(pool), watched, outcomes(problem), partial(reached, problem), early
    )
    return counterfactual_caveats(problem.predictor, problem.data, problem.run, result, answers)


def plain_settings(said: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that can be stored: functions by their kind."""
    plain: dict[str, Any] = {}
    for name, value in said.items():
        if callable(value):
            plain[name] = "function"
        elif isinstance(value, Mapping):
            plain[name] = {
                str(key): list(item) if isinstance(item, tuple | list) else item for key, item in value.items()
            }
        elif isinstance(value, str) or value is None or isinstance(value, int):
            plain[name] = value
        else:
            plain[name] = [str(item) for item in value]
    return plain
