"""How firm an answer is: the share of rows around it, and of models fitted again, for which it reaches the target, too.

The numbers of an answer are moved by up to 1% of their ranges, in the steps of the data. The same moves are made around
every answer, so that shares can be compared. Models are fitted again to rows drawn with replacement (bootstrap).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.counterfactual.search.problem import Problem
from pellucid.models.refit import refitter

PERTURBED, WIDTH = 50, 0.01  # rows around an answer, and how far their numbers move, as a share of the range


def robustness(problem: Problem, rows: FloatArray) -> FloatArray:
    """The share of the rows around each answer that reach the target."""
    known = problem.asked.around
    new = [row for row in rows if row.tobytes() not in known]
    if new:
        full = problem.run.predict(problem.predictor, problem.data.of_codes(_around(problem, np.array(new))), full=True)
        known.update(zip((row.tobytes() for row in new), np.split(full, len(new)), strict=True))
    miss = [problem.target.miss(problem.target.outputs(problem.predictor, known[row.tobytes()])) for row in rows]
    return np.array([np.mean(each == 0.0) for each in miss])


def ask_with_surroundings(problem: Problem, row: FloatArray) -> None:
    """Asks about a row and the rows around it in one call, as a call costs more than its rows; both are remembered."""
    if problem.knows(row[None]) or problem.left == 0:
        return
    rows = np.vstack([row, _around(problem, row[None])])
    full = problem.run.predict(problem.predictor, problem.data.of_codes(rows), full=True)
    problem.asked.known[(row + 0.0).tobytes()] = full[0]
    problem.asked.around[row.tobytes()] = full[1:]


def _around(problem: Problem, rows: FloatArray) -> FloatArray:
    generator = problem.run.generator("counterfactuals.robustness")
    features = problem.data.schema.features
    width = np.array([0.0 if f.nominal or f.empty else WIDTH * (f.high - f.low) for f in features])
    # Draws belong to names, not to places: the order of columns does not matter.
    place = np.argsort(np.argsort(problem.data.schema.names))
    moves = generator.uniform(-1, 1, (PERTURBED, len(width)))[:, place] * width
    around = (rows[:, None] + moves[None]).reshape(-1, len(width))
    steps = np.array([choices.step for choices in problem.choices])
    whole_steps = (steps > 0) & (width > 0)
    around[:, whole_steps] = np.round(around[:, whole_steps] / steps[whole_steps]) * steps[whole_steps]
    return around


def under_refits(problem: Problem, rows: FloatArray, refits: int, refit: Any) -> FloatArray:
    """The share of models, fitted again to bootstrap samples, under which each answer reaches the target."""
    again = refitter(problem.predictor, problem.data, refit, seed=problem.run.seed)
    run, n, reached = problem.run, len(problem.data), []
    table = problem.data.of_codes(rows)
    for k in range(refits if len(rows) else 0):
        drawn = run.generator("counterfactuals.refits", k).integers(0, n, n)
        model = again(np.sort(drawn)).predictor
        miss = problem.target.miss(problem.target.outputs(model, run.predict(model, table, full=True)))
        reached.append(miss == 0.0)
    return np.asarray(np.mean(reached, axis=0)) if reached else np.full(len(rows), np.nan)
