"""Bounds on a probability from a number of tries: Chernoff's, by the Kullback-Leibler divergence.

Reference. Kaufmann and Kalyanakrishnan 2013, "Information complexity in bandit subset selection"; Garivier and Cappe
2011. Definition, for a share p of successes in n tries and a level b:

    upper(p, b / n) = max { q : d(p, q) <= b / n }        d(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q))
    lower(p, b / n) = min { q : d(p, q) <= b / n }

Each is wrong with probability at most exp(-b), for a number of tries that was fixed beforehand (Chernoff). Whoever
looks several times, or at several rules, adds up these probabilities: hence the level of `exploration` (all times, all
arms) and that of `spent` (so many rules, one look after the other).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray

_NEAR = 1e-9
ALPHA, K1 = 1.1, 405.5  # of Kaufmann and Kalyanakrishnan's exploration rate, as used for anchors


def upper(p: Any, level: Any) -> FloatArray:
    """The greatest probability whose divergence from the share ``p`` is at most ``level``."""
    return 1 - lower(1 - np.asarray(p, dtype=np.float64), level)


def lower(p: Any, level: Any) -> FloatArray:
    """The least probability whose divergence from the share ``p`` is at most ``level``.

    Newton's method on log q, in which d(p, q) is convex: from a q that is too small it comes closer and never passes
    the solution. The start is the better of two bounds, d >= 2 (p - q)^2 (Pinsker) and d >= -p log q - H(p), with the
    entropy H.
    """
    p, level = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(level, dtype=np.float64))
    rest = 1 - p
    some, others = (
        np.where(p > 0, p, 1.0),
        np.where(rest > 0, rest, 1.0),
    )  # a share of 0 has no logarithm, and needs none
    going = p > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        entropy = -p * np.log(some) - rest * np.log(others)
        start = np.maximum(p - np.sqrt(level / 2), np.exp(-(level + entropy) / some))
        q = np.where(going, start, 0.0)
        while going.any():
            off = p - q
            logarithm = np.where(2 * q < p, np.log(q / some), np.log1p(-off / some))
            step = (-p * logarithm - rest * np.log1p(off / others) - level) * (1 - q) / off
            step = np.where(
                going & np.isfinite(step), step, 0.0
            )  # not finite where q is too small for a number, or p itself
            before, q = q, np.minimum(q * np.exp(step), p)
            # What is left after a small step is of the size of its square; the least of all numbers cannot take one.
            going = (step > _NEAR) & (q > before)
    return np.asarray(q)


def both(p: Any, level: Any) -> tuple[FloatArray, FloatArray]:
    """`lower` and `upper` at once."""
    p, level = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(level, dtype=np.float64))
    low, beyond = lower(np.stack([p, 1 - p]), level)
    return low, 1 - beyond


def exploration(t: int, arms: int, delta: float) -> float:
    """The level b(t, delta) of KL-LUCB: bounds of all ``arms`` hold at all times t with probability 1 - delta."""
    x = math.log(K1 * arms * t**ALPHA / delta)
    return x + math.log(x)


def spent(episode: int, rules: int, look: int, delta: float) -> float:
    """A level whose errors add up to ``delta`` over all episodes 1, 2, ..., their rules, and looks 1, 2, ... at each.

    The sum of 1 / (m (m + 1)) over all m is 1.
    """
    return math.log(rules * episode * (episode + 1) * look * (look + 1) / delta)
