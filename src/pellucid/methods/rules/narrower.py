"""The precision of a rule with half and with double as many bins: does the answer depend on where they were cut?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.methods.rules.arms import Wants
from pellucid.methods.rules.bins import wider_or_narrower
from pellucid.methods.rules.coverage import Predicate, TableSpace, obeyed
from pellucid.methods.rules.perturbation import FromData
from pellucid.methods.rules.search import Search
from pellucid.methods.rules.together import Answers
from pellucid.models import Predictor
from pellucid.runner import Run

if TYPE_CHECKING:
    from pellucid.methods.rules.anchor import Place

DRAWS = 200
_EPISODE = 10_000  # draws of their own
_UNKNOWN = (np.nan, np.nan)


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
            rule = search.best.rule if search.best is not None else ()
            if search.level == 0 and any(_cut(data, space.predicates[q]) for q in rule):
                found[i] = _precisions(data, place, space, rule, wanted, answers, run)
    return found


def _cut(data: Data, predicate: Predicate) -> bool:
    """Whether a predicate has an interval that depends on the bins."""
    return any(
        not cell.missing and not data.schema.features[j].nominal for j, cell in predicate.cells.items()
    )


def _precisions(
    data: Data, place: Place, space: TableSpace, rule: tuple[int, ...], wanted: Mapping[int, Any], answers: Answers, run: Run
) -> tuple[float, float]:  # fmt: skip
    row = place.sources.codes[place.sources.n + space.row]
    out = [
        _precision(data, place, _other(data, space, rule, row, wanted, factor), answers, run)
        for factor in (0.5, 2.0)
    ]
    return out[0], out[1]


def _other(
    data: Data,
    space: TableSpace,
    rule: tuple[int, ...],
    row: FloatArray,
    wanted: Mapping[int, Any],
    factor: float,
) -> TableSpace:
    """The rule alone, with other cells."""
    other = TableSpace.__new__(TableSpace)
    other.__dict__.update(space.__dict__)
    other.predicates = []
    for q in rule:
        old = space.predicates[q]
        cells = {
            j: cell if cell.missing else wider_or_narrower(data, j, float(row[j]), wanted.get(j), factor)
            for j, cell in old.cells.items()
        }
        other.predicates.append(Predicate(old.player, cells, obeyed(data, cells)))
    return other


def _precision(data: Data, place: Place, space: TableSpace, answers: Answers, run: Run) -> float:
    bits = np.ones((1, len(space.predicates)), dtype=np.bool_)
    source = FromData(place.sources, space, space.row, place.weights(space.row), place.rows, run)
    drawn = source.draw(Wants(_EPISODE, bits, np.zeros(1, dtype=np.intp), np.full(1, DRAWS)))
    return float(answers.same.same(answers.of([drawn])[0], space.row).mean())
