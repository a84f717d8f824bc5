"""Who answers: whoever is quicker. All give the same numbers, up to rounding."""

from __future__ import annotations

from pellucid.answers.answer import Answer, Asked
from pellucid.answers.sums import read_sums
from pellucid.answers.trees import read_trees
from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Run, Sweep


def answer(run: Run, predictor: Predictor, data: Data, *sweeps: Sweep, full: bool = False) -> Answer:
    """The predictions for one or several sweeps over the same rows; ``full``: of all outputs, as a loss compares them."""
    if data.frame.kind != "sparse":
        for read in (read_sums, read_trees):
            found = read(run, predictor, data, sweeps, full)
            if found is not None:
                return found
    return Asked(run, predictor, data, sweeps, full)
