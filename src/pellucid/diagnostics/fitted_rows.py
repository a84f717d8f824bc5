"""Rows that fill the leaves of a model's first tree as its own training rows did.

A tree knows how much of its training data reached each leaf. Of n unseen rows, the numbers in the leaves scatter
around n times these shares, by at least as much as chance lets them (Pearson's statistic, sum of (observed -
expected)^2 / expected, is chi-squared or larger). The training rows themselves match exactly, or nearly where each
tree sees a part of them. So a statistic that is far too *small* gives them away. The first tree of a boosted model
counts rows, whatever the loss. That of a scikit-learn forest counts rows of a bootstrap, which is drawn again from its
seed: the training rows, in their order and counted as often as they were drawn, match exactly.

When it misleads: a sample of some of the training rows is not recognised, nor are shuffled training rows of a forest,
those of a forest with class weights or of another library, of a model without trees or of rows with weights; no finding
is no proof of unseen rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pellucid.arrays import IntArray
from pellucid.data import Data
from pellucid.errors import PellucidError
from pellucid.explanations import Caveat
from pellucid.explanations.advice import advice
from pellucid.models import Predictor
from pellucid.models.bootstrap import first_draw
from pellucid.reading.trees import Refusal, tree_model
from pellucid.runner import Run
from pellucid.trees.ensemble import TreeEnsemble

SURE = 1e-4  # chance of unseen rows below which they are taken for training rows
_FEWEST = 4  # cells besides one
_EXPECTED = 1.0  # rows in a leaf; smaller ones are taken together


def chance_of_unseen(predictor: Predictor, data: Data, run: Run) -> float | None:
    """How likely unseen rows match the leaves of the first tree as closely as these do; None where that is unknown."""
    known: float | None = run.keep("chance of unseen", data, lambda: _chance(predictor, data, run))
    return known


def _chance(predictor: Predictor, data: Data, run: Run) -> float | None:
    model = tree_model(run, predictor, missed=False)
    if isinstance(model, Refusal) or data.weighted or len(model.ensemble.roots) == 0:
        return None
    try:
        matrix = model.encode(predictor.dressed(data.frame))
    except PellucidError:
        return None
    chance = match(model.ensemble, matrix)
    drawn = first_draw(predictor.model, len(matrix))
    again = None if drawn is None else match(model.ensemble, matrix, drawn)
    return chance if again is None else again if chance is None else min(chance, again)


def match(ensemble: TreeEnsemble, matrix: np.ndarray, drawn: IntArray | None = None) -> float | None:
    """The chance that a statistic as small as that of these rows, as the trees see them, comes from unseen rows; rows
    count as often as they were ``drawn``, where the first tree was grown on as many.
    """
    from scipy.special import gammainc

    first = replace(ensemble, roots=ensemble.roots[:1], output=ensemble.output[:1])
    end = ensemble.roots[1] if len(ensemble.roots) > 1 else len(ensemble.nodes.feature)
    nodes = np.arange(ensemble.roots[0], end)
    leaves = nodes[ensemble.nodes.feature[nodes] < 0]
    cover = ensemble.nodes.cover[leaves]
    if not np.isfinite(cover).all() or not cover.sum() > 0:
        return None
    count = np.ones(len(matrix)) if drawn is None else drawn.astype(np.float64)
    if drawn is not None and not np.isclose(count.sum(), cover.sum()):
        return None
    reached = first.leaves(matrix)[:, 0] - leaves[0]
    observed = np.bincount(reached, count, minlength=int(leaves[-1] - leaves[0]) + 1)[leaves - leaves[0]]
    expected = count.sum() * cover / cover.sum()
    large = expected >= _EXPECTED
    cells = np.append(observed[large], observed[~large].sum()), np.append(expected[large], expected[~large].sum())
    counted = cells[1] > 0
    free = int(counted.sum()) - 1
    if free < _FEWEST:
        return None
    statistic = float((np.square(cells[0] - cells[1])[counted] / cells[1][counted]).sum())
    return float(gammainc(free / 2, statistic / 2))


def fitted_rows(chance: float | None, *, verb: str) -> Iterator[Caveat]:
    """The rows match the training rows too well to be others."""
    if chance is not None and chance < SURE:
        yield Caveat(
            code="training-data", message=words(), value=chance, threshold=SURE, advice=advice("training-data", verb)
        )


def words() -> str:
    """What was found, of a chance below `SURE`."""
    return (
        "These look like the rows that the model was trained on: they fill the leaves of its first tree almost exactly"
        " as those did, which unseen rows would with a probability below 0.01%."
    )
