"""Normal scores of which some are known to a point, some to an interval, and some not at all.

Geweke 1991, Keane 1994: scores are drawn one after the other, each given those before, within what is known of it;
draws count by how likely their intervals were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray

POINT = 0.05  # a value held by at most this share of the rows is known by the middle of its ranks


@dataclass(frozen=True, eq=False)
class Steps:
    """Draws ``e`` (m, n, q) of independent normal numbers; with L the scores are L e, in the ``order`` (m, q) of the
    steps.

    ``free`` (m, q) marks the steps of which nothing is known; ``log_weight`` (m, n) is how much a draw counts.
    """

    e: FloatArray
    L: FloatArray
    order: IntArray
    free: BoolArray
    log_weight: FloatArray

    def scores(self, e: FloatArray) -> FloatArray:
        """The scores ``(m, n, q)`` of some draws, in the features' own order."""
        found = np.empty(e.shape)
        order = np.broadcast_to(self.order[:, None, :], e.shape)
        np.put_along_axis(found, order, np.einsum("mki,mni->mnk", self.L, e), axis=2)
        return found


def step_by_step(
    correlation: FloatArray, low: FloatArray, high: FloatArray, known: BoolArray, uniforms: FloatArray
) -> Steps:
    """Draws, made with the ``uniforms`` (m, n, q), of which the ``known`` ones (m, q) lie between the shares ``low``
    and ``high`` (m, q).

    Scores are taken in the order: known to a point, known to an interval, unknown. With L the Cholesky factor of the
    correlation in that order, the k-th is sum_i L_ki e_i in independent e, of which e_k is the one to be found.
    """
    from scipy.special import ndtri

    stage = np.where(known, np.where(high - low <= POINT, 0, 1), 2)
    stage = np.where(high - low >= 1.0, 2, stage)  # an interval that says nothing
    order = np.argsort(stage, axis=1, kind="stable")
    stage = np.take_along_axis(stage, order, axis=1)
    L: FloatArray = np.asarray(np.linalg.cholesky(correlation[order[:, :, None], order[:, None, :]]), dtype=np.float64)
    point, a, b = (np.take_along_axis(ndtri(s), order, axis=1) for s in ((low + high) / 2, low, high))
    u = np.take_along_axis(uniforms, order[:, None, :], axis=2)
    e, log_weight = ndtri(u), np.zeros(u.shape[:2])
    for k in range(stage.shape[1]):
        rest = np.einsum("mi,mni->mn", L[:, k, :k], e[:, :, :k])
        pointed, bounded = stage[:, k] == 0, stage[:, k] == 1
        e[pointed, :, k] = (point[pointed, k, None] - rest[pointed]) / L[pointed, k, k, None]
        if bounded.any():
            sides = ((side[bounded, k, None] - rest[bounded]) / L[bounded, k, k, None] for side in (a, b))
            e[bounded, :, k], mass = truncated(u[bounded, :, k], *sides)
            log_weight[bounded] += np.log(np.maximum(mass, 1e-300))
    return Steps(e, L, order, stage == 2, log_weight)


def truncated(u: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard normal numbers between a and b, at the share u of what lies there, and how much does."""
    from scipy.special import ndtr, ndtri

    flipped = a > 0  # the lower tail is where small shares are exact
    a, b, u = np.where(flipped, -b, a), np.where(flipped, -a, b), np.where(flipped, 1.0 - u, u)
    below, up_to = ndtr(a), ndtr(b)
    mass = np.asarray(up_to - below)
    inside = np.clip(ndtri(below + u * mass), a, b)
    z = np.where(mass > 0, inside, np.where(np.isfinite(b), b, a))
    return np.where(flipped, -z, z), mass
