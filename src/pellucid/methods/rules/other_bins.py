"""The precision of a rule with half and with double as many bins: does the answer depend on where they were cut?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.data import Data
from pellucid.methods.rules.arms import Wants
from pellucid.methods.rules.bins import wider_or_narrower
from pellucid.methods.rules.coverage import Predicate, TableSpace
from pellucid.methods.rules.perturbation import FromData
from pellucid.methods.rules.place import Place
from pellucid.methods.rules.search import Search
from pellucid.methods.rules.together import Answers
from pellucid.models import Predictor
from pellucid.runner import Run

DRAWS = 200
_EPISODE = 10_000  # no search has as many: draws of their own
_UNKNOWN = (float("nan"), float("nan"))


def at_other_bins(
    predictor: Predictor, data: Data, place: Place, spaces: Sequence[TableSpace], searches: Sequence[Search],
    wanted: Mapping[int, Any], perturb: Any, run: Run,
) -> list[tuple[float, float]]:  # fmt: skip
    """For every row the precisions of its rule with half and with double the bins; NaN where there is nothing to cut."""
    found = [_UNKNOWN] * len(spaces)
    if perturb not in ("data", "balanced") or run.interrupted:
        return found
    with run.checking():
        answers = Answers(predictor, data, place.same, run, None)
        for i, (space, search) in enumerate(zip(spaces, searches, strict=True)):
            rule = () if search.best is None or search.level > 0 else search.best.rule
            predicates = [space.predicates[q] for q in rule]
            if any(_cut(data, predicate) for predicate in predicates):
                half, double = (
                    _precision(data, place, space, predicates, wanted, factor, answers, run)
                    for factor in (0.5, 2.0)
                )
                found[i] = (half, double)
    return found


def _cut(data: Data, predicate: Predicate) -> bool:
    """Whether a predicate has an interval that depends on the bins."""
    return any(
        not cell.missing and not data.schema.features[j].nominal for j, cell in predicate.cells.items()
    )


def _precision(
    data: Data, place: Place, space: TableSpace, predicates: Sequence[Predicate], wanted: Mapping[int, Any],
    factor: float, answers: Answers, run: Run,
) -> float:  # fmt: skip
    """The precision of the rule with so many times the bins, from a fixed number of draws; NaN if they are the same."""
    row = place.sources.codes[place.sources.n + space.row]
    cells = {
        predicate.player: {
            j: cell if cell.missing else wider_or_narrower(data, j, float(row[j]), wanted.get(j), factor)
            for j, cell in predicate.cells.items()
        }
        for predicate in predicates
    }
    if all(cells[predicate.player] == predicate.cells for predicate in predicates):
        return float("nan")  # single values stay what they are
    other = TableSpace(data, row, place.sources.players, cells, row=space.row)
    source = FromData(place.sources, other, place.weights(space.row), place.rows, run)
    bits = np.ones((1, len(other.predicates)), dtype=np.bool_)
    drawn = source.draw(Wants(_EPISODE, bits, np.zeros(1, dtype=np.intp), np.full(1, DRAWS)))
    return float(answers.same.same(answers.of([drawn])[0], space.row).mean())
