"""Which way of drawing a column fits best: by held-out log score, the copula unless it is clearly beaten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data.sampling.held_out import log_scores
from pellucid.data.sampling.margin import Margin

_LEAST_GAIN = 0.04  # nats a row
_CLEARLY = 1.0  # standard errors


@dataclass(frozen=True)
class Choice:
    """The estimator that is used, and its gain in held-out log score (nats a row) over the first one."""

    name: str
    gain: float


def fit_of(margin: Margin, own: FloatArray, drawn: FloatArray) -> float:
    """How well draws ``(rows, draws)`` fit the rows' own values: the mean log score; of numbers, less half the
    logarithm of the mean squared error of the draws' means.
    """
    score = float(log_scores(margin, own, drawn).mean())
    if margin.levels:
        return score
    error = float(np.square(own - drawn.mean(axis=1)).mean())
    return score - 0.5 * float(np.log(max(error, 1e-300)))


def choose(
    margin: Margin,
    own: FloatArray,
    held: Mapping[str, FloatArray],
    *,
    least: float = _LEAST_GAIN,
    clearly: float = _CLEARLY,
) -> Choice:
    """Of draws ``(rows, draws)`` by several estimators, the first of which is kept unless beaten by the ``least`` gain
    and ``clearly`` (in standard errors).

    Of numbers the squared error of the draws' mean counts as well: half the logarithm of its mean, which is its share
    in the log score of a normal law and cares for what happens far out.
    """
    first = next(iter(held))
    score = {name: log_scores(margin, own, drawn) for name, drawn in held.items()}
    lines, total = score, {name: fit_of(margin, own, drawn) for name, drawn in held.items()}
    if not margin.levels:
        error = {name: np.square(own - drawn.mean(axis=1)) for name, drawn in held.items()}
        size = max(float(error[first].mean()), 1e-300)
        lines = {name: score[name] - 0.5 * error[name] / size for name in held}
    best = max(total, key=lambda name: total[name])
    gain, better = total[best] - total[first], lines[best] - lines[first]
    if better.mean() < clearly * better.std() / np.sqrt(len(own)) or gain < least:
        best, gain = first, 0.0
    return Choice(best, gain)
