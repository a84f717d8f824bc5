"""Fragile rows: rows by how little has to change for the model to predict them otherwise.

Reference. Robustness of a row as in Szegedy et al. 2014; for trees Kantchelian, Tygar and Joseph 2016.

Definition. The distance of each row x_i from another prediction (or from the target), rows ranked by it:

    r_i = min ||z - x_i||   such that   f(z) in T_i,  z in C

Norms and units are those of `adversarial`.

Estimator. The search of `adversarial` for each row: exact where the model can be read, so that the ranking is proven,
else an upper bound of each distance. What belongs to the model and to the data is worked out once for all rows. A row's
distance does not depend on the rows it is ranked with.

When it misleads:
1. without proofs, rows may be nearer to another prediction than was found, and the order of near rows may be another;
2. a row right beside a threshold is fragile by its nature: half of all rows near a fair decision are; what counts is
   whether the change is within the error with which the feature is measured;
3. rows that are far from all data are ranked like others, though the model was never fitted there.

Cost. That of `adversarial` for each row (``budget`` is the most model rows, ``seconds`` the time for each).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import optional, positive, whole
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.errors import InputError
from pellucid.explanations import FragileRows, Header
from pellucid.methods.counterfactual.adversarial import NORMS
from pellucid.methods.counterfactual.counterfactuals import emitted, plain_settings
from pellucid.methods.counterfactual.dispatch import BUDGETS, Request, choose, search
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import listed, number


def rows_to_rank(data: Data, row: Any, sample: Any, run: Run) -> tuple[Data, int]:
    """The rows that are meant, and of how many they were drawn (0: not drawn); None: a random ``sample`` of X."""
    sample = whole("sample", sample)
    if isinstance(row, slice):
        row = range(*row.indices(len(data)))
    if row is not None:
        return data.rows(row), 0
    places: IntArray = np.flatnonzero(data.weights > 0)
    if len(places) <= sample:
        return data.take(places), 0
    drawn = np.sort(run.generator("adversarial.rows").choice(places, sample, replace=False))
    return data.take(drawn), len(places)


def fragile_rows(
    predictor: Predictor,
    data: Data,
    rows: Data,
    target: Any = None,
    *,
    norm: str,
    n: int = 1,
    fixed: Any = (),
    ranges: Mapping[Any, Any] | None = None,
    budget: int | None = None,
    seconds: float | None = None,
    sampled_from: int = 0,
    run: Run,
) -> FragileRows:
    """The rows by their distance from another prediction, the most fragile first."""
    if whole("n", n) > 1:
        raise InputError(
            "n= asks for several answers to one row; of several rows, the smallest change of each is found."
        )
    budget, seconds = optional(whole, "budget", budget), optional(positive, "seconds", seconds)
    none: Any = {"monotone": None, "relations": (), "feasible": None, "max_changes": None, "costs": None}
    said = {"fixed": fixed, "ranges": ranges, "distance": NORMS[norm]}
    found: list[_Answer] = []
    run.scales_with("fewer rows", len(rows))
    with run.until_interrupted(lambda: bool(found)):
        for i in range(len(rows)):
            request = Request(predictor, data, rows.take(np.array([i])), target, run, {**said, **none})
            found.append(_nearest(request, budget, seconds))
            run.raise_if_interrupted()
    if run.interrupted and len(found) > 1:
        found = found[:-1] if not found[-1].done else found
    settings = {
        "method": "adversarial",
        "norm": norm,
        "target": target if isinstance(target, str | int | float) or target is None else str(target),
        **plain_settings(said),
        "budget": budget,
        "seconds": seconds,
        "random_state": run.seed,
    }
    result = _result(predictor, data, rows.take(np.arange(len(found))), found, settings, run, sampled_from)
    return run.finish(result, general_caveats(predictor, data, run))


@dataclass(frozen=True, eq=False)
class _Answer:
    """What was found for one row, in codes; without an answer ``row`` is the row itself."""

    x: FloatArray
    row: FloatArray
    distance: float
    proven: bool
    lower: float
    own: FloatArray
    full: FloatArray
    target: str
    done: bool


def _nearest(request: Request, budget: int | None, seconds: float | None) -> _Answer:
    """The smallest change of one row."""
    run = request.run
    problem = replace(request.problem(budget), scored=False)
    x, own = problem.x, problem.score(problem.x[None])[0]
    if problem.valid(x[None])[0]:
        return _Answer(x, x, np.nan, True, 0.0, own, own, problem.target.words, True)
    chosen = choose("auto", problem, {}, "adversarial")
    problem.asked.budget = BUDGETS.get(chosen) if budget is None else budget
    found = search(problem, chosen, 1, {}, polish=True, seconds=seconds)
    rows, _ = emitted(problem, found, 1)
    lower = np.nan if found.lower is None else float(problem.cost.shown(np.array(found.lower)))
    words = problem.target.words
    if not len(rows):
        proven = bool(found.proven and not len(found.rows))
        return _Answer(x, x, np.inf, proven, lower, own, own, words, not run.interrupted)
    distance = float(problem.cost.shown(problem.cost.total(rows))[0])
    return _Answer(x, rows[0], distance, found.proven, lower, own, problem.score(rows)[0], words, not run.interrupted)


def _result(
    predictor: Predictor,
    data: Data,
    rows: Data,
    found: list[_Answer],
    settings: Mapping[str, Any],
    run: Run,
    sampled_from: int,
) -> FragileRows:
    features = data.schema.features
    own, full = np.array([each.own for each in found]), np.array([each.full for each in found])
    x, answers = np.array([each.x for each in found]), np.array([each.row for each in found])
    values = np.array([each.distance for each in found])
    targets = list(dict.fromkeys(each.target for each in found))
    return FragileRows(
        norm=str(settings["norm"]),
        proven=np.array([each.proven for each in found]),
        lower=np.array([each.lower for each in found]),
        column_names=data.schema.names,
        cells=tuple(feature.decode(x[:, j]) for j, feature in enumerate(features)),
        answers=tuple(feature.decode(answers[:, j]) for j, feature in enumerate(features)),
        moved=_moved(data, x, answers),
        predictions=predictor.restrict(own),
        answer_predictions=predictor.restrict(full),
        said=_said(predictor, own, np.ones(len(found), dtype=np.bool_)),
        answer_said=_said(predictor, full, np.isfinite(values)),
        target=targets[0] if len(targets) == 1 else "another class",
        sampled_from=sampled_from,
        values=values,
        se=np.zeros(len(values)),
        header=Header.of(predictor, data, run, settings, row_labels=rows.row_labels),
    )


def _moved(data: Data, x: FloatArray, answers: FloatArray) -> FloatArray:
    """By how much cells differ, in units of the observed ranges; another level, from or to missing: 1."""
    moved = np.zeros(x.shape)
    for j, feature in enumerate(data.schema.features):
        same = (x[:, j] == answers[:, j]) | (np.isnan(x[:, j]) & np.isnan(answers[:, j]))
        size = 0.0 if feature.nominal or feature.empty else feature.high - feature.low
        share = np.abs(answers[:, j] - x[:, j]) / size if size > 0 else np.ones(len(x))
        moved[:, j] = np.where(same, 0.0, np.where(np.isnan(share), 1.0, share))
    return moved


def _said(predictor: Predictor, full: FloatArray, known: BoolArray) -> tuple[str, ...]:
    """What the model says in short: the class that wins, or the numbers that are explained; "" where unknown."""
    if predictor.classes is not None:
        words = [str(predictor.classes[int(k)]) for k in full.argmax(axis=1)]
    else:
        outputs, names = predictor.restrict(full), predictor.output_names
        words = [
            number(float(row[0]))
            if len(names) == 1
            else listed([f"{name} {number(float(value))}" for name, value in zip(names, row, strict=True)])
            for row in outputs
        ]
    return tuple(word if there else "" for word, there in zip(words, known, strict=True))
