"""The best of many rules with as few draws as possible: KL-LUCB.

Reference. Kaufmann and Kalyanakrishnan 2013. Of K arms with unknown means find the m best, up to ``epsilon``: with
probability 1 - delta the mean of every chosen arm is above that of every other arm minus epsilon.

Estimator. J are the m arms with the greatest means so far; l in J has the least lower bound, u outside J the greatest
upper bound, at the level `bounds.exploration`. Stop when upper(u) - lower(l) < epsilon, else draw for u and l.

Here the arms share their draws, so the difference of two arms is also bounded by the draws in which they differ: with
shares q of draws in which only one of them is right and r of these in favour of u, mean(u) - mean(l) = q (2r - 1) is at
most upper(q) (2 upper(r) - 1). A pair is settled when either bound is below epsilon; each gets half of delta.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.rules.arms import Arms, Asking
from pellucid.methods.rules.bounds import exploration, lower, upper

_GROWTH = 1.5  # of an arm's draws from step to step: few calls of the model, few draws too many


def best_arms(
    arms: Arms, allowed: IntArray, m: int, *, epsilon: float, delta: float, batch: int
) -> Asking[IntArray]:
    """The ``m`` arms with the greatest means among those ``allowed``, best first."""
    if len(allowed) > m:
        t = 0
        while True:
            t += 1
            level = exploration(t, len(allowed), delta / 2)
            inside, outside = _split(arms, allowed, m)
            gap = _gaps(arms, inside, outside, level)
            l, u = np.unravel_index(int(np.argmax(gap)), gap.shape)
            if gap[l, u] < epsilon:
                break
            pair = np.array([inside[l], outside[u]])
            if not (yield from arms.draw(pair, _goal(arms, pair, batch))):
                break
    inside, _ = _split(arms, allowed, m)
    return inside


def _split(arms: Arms, allowed: IntArray, m: int) -> tuple[IntArray, IntArray]:
    """The m best so far, best first (of equal means the one with more coverage), and the others."""
    order = allowed[np.lexsort((allowed, -arms.coverage[allowed], -arms.mean[allowed]))]
    return order[:m], order[m:]


def _gaps(arms: Arms, inside: IntArray, outside: IntArray, level: float) -> FloatArray:
    """By how much an arm outside (columns) may be better than one inside (rows)."""
    n = np.maximum(arms.n, 1)
    low = lower(arms.mean[inside], level / n[inside])
    high = upper(arms.mean[outside], level / n[outside])
    gap = high[None, :] - low[:, None]
    for row, arm in enumerate(inside.tolist()):
        gap[row] = np.minimum(gap[row], _paired(arms, arm, outside, level))
    return gap


def _paired(arms: Arms, arm: int, others: IntArray, level: float) -> FloatArray:
    """An upper bound of mean(other) - mean(arm) from the draws in which they differ."""
    common, better, worse = (part[others] for part in arms.differences(arm))
    differ = better + worse
    q = upper(differ / np.maximum(common, 1), (level + np.log(2)) / np.maximum(common, 1))
    r = upper(better / np.maximum(differ, 1), (level + np.log(2)) / np.maximum(differ, 1))
    lean = 2 * np.where(differ > 0, r, 1.0) - 1
    return np.asarray(np.where(common > 0, np.where(lean > 0, q * lean, 0.0), 1.0))


def _goal(arms: Arms, which: IntArray, batch: int) -> IntArray:
    """Both arms to a common number of draws, beyond what the one with fewer has."""
    n = arms.n[which]
    fewest = int(n.min())
    grown = max(fewest + batch, int(fewest * _GROWTH))
    goal = np.maximum(n, grown)
    return np.asarray(goal if (goal > n).any() else n + batch)
