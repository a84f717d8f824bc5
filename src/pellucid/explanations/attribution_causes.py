"""Which contributions to name when only one or two can be named.

Reference. Miller 2019: people ask why this rather than that, name one or two causes, and prefer abnormal ones.

Definition. Causes are the features that push the prediction away from where the contributions start (the
average prediction, or another row's), in the direction in which it lies. Size comes first: take the largest
contribution that is left; but every contribution of at least 90% of that size counts as equally large, and of
these the feature with the rarest value is taken. Repeat. Features that did nothing are no cause.

When it misleads. Two causes are not the explanation: what they leave out may be larger than what they say, and a
contribution in the other direction may be larger than both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.words import percent

if TYPE_CHECKING:
    from pellucid.explanations.attribution import Attribution

NEAR_TIE = 0.9  # of the larger size
UNUSUAL = 0.1  # share of reference rows at least as extreme
_NOISE = 1e-12  # of the numbers that were added up


def causes(found: Attribution, n: int) -> list[int]:
    """Positions of at most ``n`` features, in the order in which to name them."""
    sizes = pushes(found)
    rare = np.ones(len(sizes)) if found.rarity is None or len(found) > 1 else found.rarity[0]
    rare = np.where(np.isnan(rare), 1.0, rare)
    left = [int(j) for j in np.argsort(-sizes, kind="stable") if sizes[j] > 0 and j != found.others]
    chosen: list[int] = []
    while left and len(chosen) < n:
        near = [j for j in left if sizes[j] >= NEAR_TIE * sizes[left[0]]]
        chosen.append(min(near, key=lambda j: rare[j]))  # the largest of equally rare ones
        left.remove(chosen[-1])
    return chosen


def pushes(found: Attribution) -> FloatArray:
    """How far each feature pushes in the direction of the difference; several rows or outputs have no direction."""
    if len(found) > 1 or found.values.ndim == 3:
        return np.asarray(np.abs(found.stacked()).mean(axis=(0, 2)))
    values = settled(found)
    direction = np.sign(difference(found))
    return np.asarray(values * direction if direction else np.abs(values))


def settled(found: Attribution) -> FloatArray:
    """The contributions to the only row and output; those that are mere rounding are zero."""
    values: FloatArray = found.values[0]
    return np.where(np.abs(values) > _noise(found), values, 0.0)


def difference(found: Attribution) -> float:
    """The only prediction minus the base; zero if that is mere rounding."""
    gap = float(found.prediction[0] - found.base)
    return gap if abs(gap) > _noise(found) else 0.0


def _noise(found: Attribution) -> float:
    return _NOISE * (abs(float(found.prediction[0])) + abs(float(found.base)))


def remark(found: Attribution, j: int) -> str:
    """Why the value of a feature in the first row is unusual: `` (higher than 98% of the rows)``, or nothing."""
    if found.rarity is None or found.side is None or not found.rarity[0, j] <= UNUSUAL:
        return ""
    share, side = float(found.rarity[0, j]), float(found.side[0, j])
    if found.grouped(j):
        return f" (one of these values is as unusual as in {percent(share)} of the rows)"
    if side == 0:
        return f" (as in {percent(share)} of the rows)" if share > 0 else " (as in none of the rows)"
    date = found.data[j].dtype.kind == "M"
    word = {(True, True): "later", (True, False): "earlier", (False, True): "higher"}.get((date, side > 0), "lower")
    return f" ({word} than {percent(1 - share / 2) if share > 0 else 'all'} of the rows)"
