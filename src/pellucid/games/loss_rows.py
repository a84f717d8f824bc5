"""The loss of a mean prediction, from a few of the predictions that it is the mean of.

A row's prediction is a mean over background rows (donors), of which k are drawn. Two things are done about the error:

1. *Donor effects.* Some donors give higher predictions than others whatever the row. What a donor adds is known well,
   from all rows that drew it, so it is taken off: ``f_ib - h_b``, the h of least squares in a two-way layout. Of
   probabilities, which must not become negative, it is divided out: ``sum_b f_ib / sum_b t_b`` per class, then made to
   add up to one. A model without interactions between known and unknown features is then exact from any donors.
2. *Jackknife* (Quenouille 1956). A loss is curved, so the loss of a noisy mean is too large by about 1/k. With l the
   loss of the mean and l_-b that of the mean without donor b, ``l - (1 - k/B) (k - 1) (mean l_-b - l)`` is right for a
   squared loss and wrong by 1/k^2 for others; B donors in all. Its variance is ``(1 - k/B) (k-1)/k  sum_b (l_-b - mean
   l_-b)^2``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.losses import RowLoss
from pellucid.stats import effective_size

_SLOTS = 8  # places of an average donor, among which unequal weights are shared out
_USES = 8  # of an average donor: with fewer its effect is not known well enough
_PASSES, _DONORS_PASSED = 3, 32  # by turns: a few times, and more often where there are few donors
_TILT = 20.0  # no donor changes the chances of a class by more


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows, ``donors[:, i]`` of the i-th of them, the rows' weights, and which share of all donors and rows that is."""

    rows: IntArray
    donors: IntArray
    weights: FloatArray = field(default_factory=lambda: np.ones(0))
    share_of_donors: float = 1.0
    share_of_rows: float = 1.0


@dataclass(frozen=True, eq=False)
class RowLosses:
    """The loss of each row ``(rows,)``, and without each of its donors ``(donors, rows)``."""

    loss: FloatArray
    without: FloatArray


def draw(generator: np.random.Generator, weights: FloatArray, background: FloatArray, m: int, k: int) -> Draw:
    """m rows, and k donors for each: every donor is drawn as often as it counts, and not twice by a row if all count
    alike.

    The donors are put on a circle in random order. A row has a place on it and takes those at k random distances.
    """
    n, size = len(weights), len(background)
    if m >= n:
        rows, counts, share_of_rows = np.arange(n), weights, 1.0
    elif (weights == weights[0]).all():
        rows, counts, share_of_rows = generator.choice(n, m, replace=False), np.ones(m), m / n
    else:
        rows, counts, share_of_rows = _evenly(generator, weights, m), np.ones(m), 0.0
    alike = bool((background == background[0]).all())
    circle = generator.permutation(size) if alike else _evenly(generator, background, _SLOTS * size)
    places = generator.permutation(np.arange(len(rows)) % len(circle))
    distances = generator.choice(len(circle), k, replace=False)
    donors = circle[(places[None, :] + distances[:, None]) % len(circle)]
    return Draw(rows, donors, counts, min(k / size, 1.0) if alike else 0.0, share_of_rows)


def _evenly(generator: np.random.Generator, weights: FloatArray, n: int) -> IntArray:
    """n positions drawn in proportion to weights, as evenly as possible, in random order."""
    order = generator.permutation(len(weights))
    marks = (np.arange(n) + generator.random()) / n
    last = int(np.flatnonzero(weights[order])[-1])
    found = np.searchsorted(np.cumsum(weights[order]) / weights.sum(), marks, side="right")
    return generator.permutation(order[found.clip(0, last)])


def donor_losses(
    predictions: FloatArray, drawn: Draw, y: FloatArray, loss: RowLoss, share: FloatArray, *, probability: bool
) -> RowLosses:
    """The loss of each row from predictions ``(donors, rows, outputs)``; ``share`` is what each donor counts."""
    k, m, width = predictions.shape
    known = predictions.shape[0] * m >= _USES * len(share)
    if probability:
        mean, without = _divided(predictions, _tilts(predictions, drawn.donors, share) if known else None, drawn.donors)
    else:
        cleared = predictions - _effects(predictions, drawn.donors, share)[drawn.donors] if known else predictions
        total = cleared.sum(axis=0)
        mean, without = total / k, (total - cleared) / max(k - 1, 1)
    own = loss(y, mean)
    if k == 1:
        return RowLosses(own, own[None])
    left_out = loss(np.repeat(y[None], k, axis=0).reshape(k * m, *y.shape[1:]), without.reshape(k * m, width)).reshape(
        k, m
    )
    curved = (1 - drawn.share_of_donors) * (k - 1) * (left_out.mean(axis=0) - own)
    return RowLosses(own - curved, left_out)


def _effects(predictions: FloatArray, donors: IntArray, share: FloatArray) -> FloatArray:
    """``h (donors, outputs)`` of the layout ``f_ib = mean_i + h_b``, by turns; on average nothing."""
    effects = np.zeros((len(share), predictions.shape[2]))
    for _ in range(max(_PASSES, _DONORS_PASSED // len(donors))):
        mean = (predictions - effects[donors]).mean(axis=0)
        effects = _by_donor(predictions - mean, donors, len(share), average=True)
        effects -= share @ effects
    return effects


def _tilts(predictions: FloatArray, donors: IntArray, share: FloatArray) -> FloatArray:
    """``t (donors, classes)``: how much likelier a donor makes each class; on average one."""
    tilts = np.ones((len(share), predictions.shape[2]))
    for _ in range(max(_PASSES, _DONORS_PASSED // len(donors))):
        mean = predictions.sum(axis=0) / tilts[donors].sum(axis=0)
        expected = _by_donor(np.broadcast_to(mean, predictions.shape), donors, len(share))
        seen = _by_donor(predictions, donors, len(share))
        tilts = np.where(expected > 0, seen / np.where(expected > 0, expected, 1.0), 1.0)
        tilts = tilts.clip(1 / _TILT, _TILT)
        tilts /= share @ tilts
    return tilts


def _divided(predictions: FloatArray, tilts: FloatArray | None, donors: IntArray) -> tuple[FloatArray, FloatArray]:
    """The mean probabilities, and without each donor."""
    expected = np.ones(predictions.shape) if tilts is None else tilts[donors]
    total, total_expected = predictions.sum(axis=0), expected.sum(axis=0)
    few = len(predictions) == 1
    without = total[None] if few else (total - predictions) / (total_expected - expected)
    return _adding_up(total / total_expected), _adding_up(without)


def _adding_up(probabilities: FloatArray) -> FloatArray:
    total = probabilities.sum(axis=-1, keepdims=True)
    return np.asarray(probabilities / np.where(total > 0, total, 1.0))


def _by_donor(values: FloatArray, donors: IntArray, n: int, *, average: bool = False) -> FloatArray:
    """Sums (or means) over the uses of each donor, ``(donors, outputs)``; nothing where it is not used."""
    flat = donors.ravel()
    columns = values.reshape(-1, values.shape[-1]).T
    sums = np.stack([np.bincount(flat, weights=column, minlength=n) for column in columns], axis=1)
    uses = np.maximum(np.bincount(flat, minlength=n), 1)[:, None] if average else 1.0
    return np.asarray(sums / uses, dtype=np.float64)


def mean_and_noise(first: RowLosses, second: RowLosses, drawn: Draw) -> tuple[FloatArray, float]:
    """What a coalition and its complement are worth, minus their mean losses, and the variance of the difference.

    Rows in two stages (Cochran 1977): with a share r of them asked, ``(1 - r) s^2 / m`` between rows and ``r / m``
    times the mean variance within, which comes from the donors.
    """
    weights = drawn.weights / drawn.weights.sum()
    worth = -np.array([first.loss @ weights, second.loss @ weights])
    k, size = len(first.without), effective_size(drawn.weights)
    without = first.without - second.without
    within = (1 - drawn.share_of_donors) * (k - 1) / k * np.square(without - without.mean(axis=0)).sum(axis=0)
    noise = drawn.share_of_rows * float(np.square(weights) @ within)
    if drawn.share_of_rows < 1 and size > 1:
        difference = first.loss - second.loss
        spread = float(weights @ np.square(difference - difference @ weights)) * size / (size - 1)
        noise += (1 - drawn.share_of_rows) * spread / size
    return worth, noise
