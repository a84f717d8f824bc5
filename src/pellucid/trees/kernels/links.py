"""From sums of trees to predictions, eight at a time: logistic, exponential, softmax."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.simd import (
    VECTOR_BYTES,
    choose,
    fused,
    fused_less,
    load,
    low_bits_as_exponent,
    splat,
    store,
)

IDENTITY, LOGISTIC, EXPONENTIAL, SOFTMAX = range(4)
CODES = {"identity": IDENTITY, "logistic": LOGISTIC, "one-vs-rest": LOGISTIC, "exp": EXPONENTIAL, "softmax": SOFTMAX}

_WHOLE = 1.5 * 2.0**52  # added and taken away, it rounds to a whole number, which its last bits hold meanwhile
_PER_LOG = 1.4426950408889634
_LOG_HIGH, _LOG_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LARGEST = 708.0  # beyond, powers leave the range of doubles


@inner
def exponential(x):
    """``exp(x)`` to the last digit or two: x = n log 2 + r, and the series of exp(r) for |r| <= log(2) / 2."""
    x = choose(x, splat(_LARGEST), x, splat(_LARGEST))
    x = choose(x, splat(-_LARGEST), splat(-_LARGEST), x)
    moved = fused(x, splat(_PER_LOG), splat(_WHOLE))
    n = moved - splat(_WHOLE)
    r = fused_less(n, splat(_LOG_LOW), fused_less(n, splat(_LOG_HIGH), x))
    series = splat(1.0 / 479001600.0)
    series = fused(series, r, splat(1.0 / 39916800.0))
    series = fused(series, r, splat(1.0 / 3628800.0))
    series = fused(series, r, splat(1.0 / 362880.0))
    series = fused(series, r, splat(1.0 / 40320.0))
    series = fused(series, r, splat(1.0 / 5040.0))
    series = fused(series, r, splat(1.0 / 720.0))
    series = fused(series, r, splat(1.0 / 120.0))
    series = fused(series, r, splat(1.0 / 24.0))
    series = fused(series, r, splat(1.0 / 6.0))
    series = fused(series, r, splat(0.5))
    series = fused(series, r, splat(1.0))
    series = fused(series, r, splat(1.0))
    return series * low_bits_as_exponent(moved + splat(1023.0))


@inner
def logistic(x):
    """``1 / (1 + exp(-x))``."""
    return splat(1.0) / (splat(1.0) + exponential(splat(0.0) - x))


@inner
def apply_link(link, sums, stride, outputs, predictions):
    """Predictions of eight rows, from and to addresses; one output lies ``stride`` bytes behind the other."""
    if link == SOFTMAX:
        largest = load(sums)
        for k in range(1, outputs):
            other = load(sums + k * stride)
            largest = choose(largest, other, other, largest)
        total = splat(0.0)
        for k in range(outputs):
            power = exponential(load(sums + k * stride) - largest)
            total = total + power
            store(predictions + k * stride, power)
        for k in range(outputs):
            store(predictions + k * stride, load(predictions + k * stride) / total)
        return
    for k in range(outputs):
        x = load(sums + k * stride)
        if link == LOGISTIC:
            x = logistic(x)
        elif link == EXPONENTIAL:
            x = exponential(x)
        store(predictions + k * stride, x)


@kernel
def linked(link, sums):
    """Predictions of a matrix ``(outputs, points)`` of sums, a multiple of eight points, in place."""
    outputs, points = sums.shape
    address, stride = sums.ctypes.data, 8 * np.int64(points)
    for p in range(0, stride, VECTOR_BYTES):
        apply_link(link, address + p, stride, outputs, address + p)
