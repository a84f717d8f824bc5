"""Who serves: the model's trees, its sum over the features, or the model itself, asked. All give the same numbers, up
to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.models.linear import Unlike
from pellucid.reading.additive import SumRows, sum_rows
from pellucid.reading.answer import Answer, ModelAnswer
from pellucid.reading.by_sums import by_sums
from pellucid.reading.by_trees import by_trees
from pellucid.reading.trees import Refusal, TreeRows, explained_trees, tree_rows
from pellucid.runner import Intervention, Run

_NO_TREES, _NO_SUM = Refusal("no trees", "they were not asked for"), Unlike("it was not asked for")


@dataclass(frozen=True)
class Asked:
    """A model that has to be asked: why its trees do not serve, and why it is no sum that does."""

    trees: Refusal = _NO_TREES
    sums: Unlike = _NO_SUM


def read(
    run: Run,
    predictor: Predictor,
    data: Data,
    rows: Data,
    background: Callable[[bool], Data],
    *,
    trees: bool = True,
    sums: bool = True,
    linked: bool = False,
    predicted: bool = False,
) -> TreeRows | SumRows | Asked:
    """What explains some rows, for methods whose formulas differ by it; the background is fetched where it is needed,
    and told whether it stands behind a link.

    ``trees`` and ``sums`` say what may serve, ``linked`` whether that goes for sums before their link. With
    ``predicted`` trees come with the model's own predictions (`ExplainedTrees`), for which it is asked about all rows.
    """
    asked = Asked()
    if trees:
        found = (explained_trees if predicted else tree_rows)(predictor, rows, data, run)
        if isinstance(found, TreeRows):
            return found
        asked = Asked(trees=found)
    if sums:
        terms = sum_rows(predictor, rows, background, run, linked=linked)
        return Asked(asked.trees, terms) if isinstance(terms, Unlike) else terms
    return asked


def answer(run: Run, predictor: Predictor, data: Data, *interventions: Intervention, full: bool = False) -> Answer:
    """The predictions for one or several interventions over the same rows, by whoever is quickest; ``full``: of all
    outputs, as a loss compares them.
    """
    if data.frame.kind != "sparse":
        for read_by in (by_sums, by_trees):
            found = read_by(run, predictor, data, interventions, full)
            if found is not None:
                return found
    return ModelAnswer(run, predictor, data, interventions, full)
