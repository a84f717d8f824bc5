"""The precision of a rule with half and with double as many bins: does the answer depend on where they were cut?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pellucid.data import Data
from pellucid.methods.rules.search.bandit import Wants
from pellucid.methods.rules.search.beam import Search
from pellucid.methods.rules.search.bins import Cell, first_cell, wider_or_narrower
from pellucid.methods.rules.search.joint_search import Answers, Setting
from pellucid.methods.rules.search.perturbation import FromData
from pellucid.methods.rules.search.predicates import Predicate, TableSpace
from pellucid.models import Predictor
from pellucid.runner import Run

DRAWS = 200
_EPISODE = 10_000  # no search has as many: draws of their own
_UNKNOWN = (float("nan"), float("nan"))


def precision_at_other_bins(
    predictor: Predictor,
    data: Data,
    setting: Setting,
    spaces: Sequence[TableSpace],
    searches: Sequence[Search],
    wanted: Mapping[int, Any],
    perturb: Any,
    run: Run,
) -> list[tuple[float, float]]:
    """For every row the precisions of its rule with half and with double the bins; NaN where there is nothing to
    cut.
    """
    found = [_UNKNOWN] * len(spaces)
    if perturb not in ("data", "balanced"):
        return found
    answers = Answers(predictor, data, setting.same, run, None)
    for i, (space, search) in enumerate(zip(spaces, searches, strict=True)):
        rule = () if search.best is None or search.level > 0 else search.best.rule
        predicates = [space.predicates[q] for q in rule]
        if any(_cut(data, predicate) for predicate in predicates):
            at = partial(_precision, data, setting, space, predicates, wanted, answers, run)
            found[i] = run.unless_interrupted(partial(_half_and_double, at), _UNKNOWN)
    return found


def _half_and_double(at: Callable[[float], float]) -> tuple[float, float]:
    return at(0.5), at(2.0)


def _recut(data: Data, j: int, code: float, wanted: Any, cell: Cell, factor: float) -> Cell:
    """A cell with so many times the bins; a side that was opened after the bins were cut stays open."""
    usual, other = first_cell(data, j, code, wanted), wider_or_narrower(data, j, code, wanted, factor)
    low = cell.low if np.isinf(cell.low) and not np.isinf(usual.low) else other.low
    high = cell.high if np.isinf(cell.high) and not np.isinf(usual.high) else other.high
    return Cell(low, high)


def _cut(data: Data, predicate: Predicate) -> bool:
    """Whether a predicate has an interval that depends on the bins."""
    return any(not cell.missing and not data.schema.features[j].nominal for j, cell in predicate.cells.items())


def _precision(
    data: Data,
    setting: Setting,
    space: TableSpace,
    predicates: Sequence[Predicate],
    wanted: Mapping[int, Any],
    answers: Answers,
    run: Run,
    factor: float,
) -> float:
    """The precision of the rule with so many times the bins, from a fixed number of draws; NaN if they are the same."""
    row = setting.sources.codes[setting.sources.n + space.row]
    cells = {
        predicate.player: {
            j: cell if cell.missing else _recut(data, j, float(row[j]), wanted.get(j), cell, factor)
            for j, cell in predicate.cells.items()
        }
        for predicate in predicates
    }
    if all(cells[predicate.player] == predicate.cells for predicate in predicates):
        return float("nan")  # single values stay what they are
    other = TableSpace(data, row, setting.sources.players, cells, row=space.row)
    source = FromData(setting.sources, other, setting.weights(space.row), setting.rows, run)
    bits = np.ones((1, len(other.predicates)), dtype=np.bool_)
    drawn = source.draw(Wants(_EPISODE, bits, np.zeros(1, dtype=np.intp), np.full(1, DRAWS)))
    return float(answers.same.same(answers.of([drawn])[0], space.row).mean())
