"""Bounds on a probability from a number of tries: Chernoff's, by the Kullback-Leibler divergence.

Reference. Kaufmann and Kalyanakrishnan 2013, "Information complexity in bandit subset selection"; Garivier and Cappe
2011. Definition, for a share p of successes in n tries and a level b:

    upper(p, b / n) = max { q : d(p, q) <= b / n }        d(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q))
    lower(p, b / n) = min { q : d(p, q) <= b / n }

Each is wrong with probability at most exp(-b), for a number of tries that was fixed beforehand (Chernoff). Whoever looks
several times, or at several rules, adds up these probabilities: hence the level of `exploration` (all times, all arms)
and that of `spent` (so many rules, one look after the other).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray

_HALVINGS = 60  # of an interval of length 1: what is left is less than the rounding of 1
ALPHA, K1 = 1.1, 405.5  # of Kaufmann and Kalyanakrishnan's exploration rate, as used for anchors


def divergence(p: Any, q: Any) -> FloatArray:
    """Kullback-Leibler divergence of one coin from another; infinite where q excludes what p allows."""
    p, q = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
        zeros = np.where(p < 1, (1 - p) * (np.log1p(-p) - np.log1p(-q)), 0.0)
    return np.asarray(np.maximum(ones + zeros, 0.0))


def upper(p: Any, level: Any) -> FloatArray:
    """The greatest probability whose divergence from the share ``p`` is at most ``level``."""
    return _farthest(p, level, 1.0)


def lower(p: Any, level: Any) -> FloatArray:
    """The least probability whose divergence from the share ``p`` is at most ``level``."""
    return _farthest(p, level, 0.0)


def _farthest(p: Any, level: Any, end: float) -> FloatArray:
    """Bisection between ``p``, which is near enough, and the end of the scale; errs towards the end."""
    p, level = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(level, dtype=np.float64))
    rest, near, far = 1 - p, p, np.full(p.shape, end)
    # d(p, q) = p log p + (1-p) log(1-p) - p log q - (1-p) log(1-q): what does not depend on q is taken out of the loop.
    with np.errstate(divide="ignore", invalid="ignore"):
        constant = (
            np.where(p > 0, p * np.log(p), 0.0) + np.where(rest > 0, rest * np.log(rest), 0.0) - level
        )
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            inside = constant <= p * np.log(middle) + rest * np.log1p(-middle)
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return np.asarray(np.where(divergence(p, end) <= level, end, far))


def exploration(t: int, arms: int, delta: float) -> float:
    """The level b(t, delta) of KL-LUCB: bounds of all ``arms`` hold at all times t with probability 1 - delta."""
    x = math.log(K1 * arms * t**ALPHA / delta)
    return x + math.log(x)


def spent(episode: int, rules: int, look: int, delta: float) -> float:
    """A level whose errors add up to ``delta`` over all episodes 1, 2, ..., their rules, and looks 1, 2, ... at each.

    The sum of 1 / (m (m + 1)) over all m is 1.
    """
    return math.log(rules * episode * (episode + 1) * look * (look + 1) / delta)
