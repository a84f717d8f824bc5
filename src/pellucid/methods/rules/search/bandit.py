"""The best of many rules with as few draws as possible: KL-LUCB.

Reference. Kaufmann and Kalyanakrishnan 2013. Of K arms with unknown means find the m best, up to ``epsilon``: with
probability 1 - delta the mean of every chosen arm is above that of every other arm minus epsilon.

Estimator. J are the m arms with the greatest means so far; at the level `exploration` an arm u outside J may be
better than an arm l in J by at most upper(u) - lower(l), their gap. Stop when no gap is above epsilon; else draw for
those l whose gap is, and for the quarter of the u with the greatest gaps. (The reference draws for one l and one u at a
time; more of them at once means fewer calls of the model.)

Here the arms share their draws, so the difference of two arms is also bounded by the draws in which they differ: with
shares q of draws in which only one of them is right and r of these in favour of u, mean(u) - mean(l) = q (2r - 1) is at
most upper(q) (2 upper(r) - 1). The smaller bound counts; each gets half of delta.

``most`` draws are the end in any case: to tell arms apart that hardly differ takes thousands of draws, and the
choice only says which rules to extend. What is said about the rule that is returned does not depend on it.

A *predicate* is a number; a *rule*, an arm of the bandit, is a set of predicates, a row of bits. A search is a
generator: it yields the draws that it `Wants` and is sent what they gave, so that it knows nothing of tables, texts or
images, and many searches can be answered together. What is sent is one array per rule: for each draw whether the model
predicted the same as for the explained row. Draw number k is the same for all rules of an episode where the
perturbation allows it (the same row, in which each rule fixes its own part), so two rules can be compared draw by draw.

*Bounds on a probability* from a number of tries are Chernoff's, by the Kullback-Leibler divergence (Kaufmann and
Kalyanakrishnan 2013; Garivier and Cappe 2011). For a share p of successes in n tries and a level b:

    upper(p, b / n) = max { q : d(p, q) <= b / n }        d(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q))
    lower(p, b / n) = min { q : d(p, q) <= b / n }

Each is wrong with probability at most exp(-b), for a number of tries that was fixed beforehand. Whoever looks several
times, or at several rules, adds up these probabilities: hence the level of `exploration` (all times, all arms) and that
of `spent` (so many rules, one look after the other).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Wants:
    """Draws asked for: of rule ``bits[i]`` those numbered ``start[i]`` to ``stop[i]`` in an episode.

    Episodes do not share draws. ``whole``: not draws, but once every row that a draw could give (see
    `Space.enumerable`).
    """

    episode: int
    bits: BoolArray
    start: IntArray
    stop: IntArray
    whole: bool = False


T = TypeVar("T")
Asking = Generator[Wants, list[BoolArray], T]


class Arms:
    """Rules of one episode with the draws made for each so far; ``exact`` holds what is known without chance, else
    NaN.
    """

    def __init__(self, bits: BoolArray, coverage: FloatArray, episode: int, *, paired: bool = True) -> None:
        self.bits, self.coverage, self.episode, self.paired = bits, coverage, episode, paired
        self.n = np.zeros(len(bits), dtype=np.intp)
        self.hits = np.zeros(len(bits), dtype=np.intp)
        self.ended = np.zeros(len(bits), dtype=np.bool_)
        self.exact = np.full(len(bits), np.nan)
        self._same = np.zeros((len(bits), 64), dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def mean(self) -> FloatArray:
        """Share of draws with the same prediction; 0 without draws."""
        return np.where(np.isnan(self.exact), self.hits / np.maximum(self.n, 1), self.exact)

    def same(self, arm: int) -> BoolArray:
        """Draw by draw, whether the prediction was the same."""
        return self._same[arm, : self.n[arm]]

    def draw(self, which: IntArray, upto: IntArray) -> Asking[bool]:
        """Draw for some arms until they have so many; False if there was nothing more to draw."""
        more = (upto > self.n[which]) & ~self.ended[which]
        which, upto = which[more], upto[more]
        if not len(which):
            return False
        found = yield Wants(self.episode, self.bits[which], self.n[which], upto)
        self._make_room(int(upto.max()))
        for arm, goal, same in zip(which.tolist(), upto.tolist(), found, strict=True):
            start = int(self.n[arm])
            self._same[arm, start : start + len(same)] = same
            self.n[arm] += len(same)
            self.hits[arm] += int(same.sum())
            self.ended[arm] = self.n[arm] < goal  # fewer than wanted: there are no others
        return True

    def enumerate(self, which: IntArray, shares: FloatArray) -> Asking[None]:
        """The exact precision of some arms: each row counts with its share."""
        if len(which):
            none = np.zeros(len(which), dtype=np.intp)
            found = yield Wants(self.episode, self.bits[which], none, none, whole=True)
            self.exact[which] = [float(shares[same].sum() / shares.sum()) for same in found]
            self.ended[which] = True

    def _make_room(self, size: int) -> None:
        room = self._same.shape[1]
        if size > room:
            wider = np.zeros((len(self), max(size, 2 * room)), dtype=np.bool_)
            wider[:, :room] = self._same
            self._same = wider

    def differences(self, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For every arm of ``a`` (rows) and of ``b``: draws that both have, those only b gets right, those only a
        does.
        """
        made = np.arange(self._same.shape[1]) < self.n[:, None]
        right, wrong = (self._same & made).astype(np.float64), (~self._same & made).astype(np.float64)
        common = np.minimum(self.n[a][:, None], self.n[b][None, :]).astype(np.float64)
        return common, wrong[a] @ right[b].T, right[a] @ wrong[b].T


def best_arms(
    arms: Arms, allowed: IntArray, m: int, *, epsilon: float, delta: float, batch: int, most: int | None = None
) -> Asking[IntArray]:
    """The ``m`` arms with the greatest means among those ``allowed``, best first."""
    t, start = 0, int(arms.n.sum())
    while len(allowed) > m and (most is None or arms.n.sum() - start < most):
        t += 1
        inside, outside = _split(arms, allowed, m)
        gap = gaps(arms, inside, outside, exploration(t, len(allowed), delta / 2))
        which = _disputed(gap >= epsilon, gap, inside, outside)
        fewest = int(arms.n[which[~arms.ended[which]]].min(initial=np.iinfo(np.intp).max // 2))
        # All to twice what the one with the fewest has: no arm runs ahead of those that it is compared with.
        if not (yield from arms.draw(which, np.full(len(which), max(2 * fewest, batch)))):
            break
    return _split(arms, allowed, m)[0]


def _disputed(open_: BoolArray, gap: FloatArray, inside: IntArray, outside: IntArray) -> IntArray:
    """Arms inside with an open gap, and of the arms outside that have one the quarter with the greatest."""
    rivals = np.flatnonzero(open_.any(axis=0))
    worst = rivals[np.argsort(-gap[:, rivals].max(axis=0), kind="stable")]
    return np.append(inside[open_.any(axis=1)], outside[worst[: -(-len(worst) // 4)]])


def _split(arms: Arms, allowed: IntArray, m: int) -> tuple[IntArray, IntArray]:
    """The m best so far, best first (of equal means the one with more coverage), and the others."""
    order = allowed[np.lexsort((allowed, -arms.coverage[allowed], -arms.mean[allowed]))]
    return order[:m], order[m:]


def gaps(arms: Arms, inside: IntArray, outside: IntArray, level: float) -> FloatArray:
    """By how much an arm outside (columns) may be better than one inside (rows)."""
    known = (arms.n > 0) | ~np.isnan(arms.exact)
    exact, mean, each = ~np.isnan(arms.exact), arms.mean, level / np.maximum(arms.n, 1)
    low = np.where(exact[inside], mean[inside], lower(mean[inside], each[inside]))
    high = np.where(exact[outside], mean[outside], upper(mean[outside], each[outside]))
    gap = np.where(known[outside], high, 1.0) - np.where(known[inside], low, 0.0)[:, None]
    return np.minimum(gap, _paired(arms, inside, outside, level)) if arms.paired else gap


def _paired(arms: Arms, inside: IntArray, outside: IntArray, level: float) -> FloatArray:
    """An upper bound of mean(outside) - mean(inside) from the draws in which they differ."""
    common, better, worse = arms.differences(inside, outside)
    differ = better + worse
    q = upper(differ / np.maximum(common, 1), (level + np.log(2)) / np.maximum(common, 1))
    r = upper(better / np.maximum(differ, 1), (level + np.log(2)) / np.maximum(differ, 1))
    lean = np.maximum(2 * np.where(differ > 0, r, 1.0) - 1, 0.0)
    return np.asarray(np.where(common > 0, q * lean, 1.0))


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
