"""How well draws fit rows that they were not made from: the log score.

The mean logarithm of the density that the draws of each row give to the row's own value. Of a number: on the scale of
normal scores, by a kernel density estimate with the best of a few widths, and with a little of the normal density so
that one far value is not the end of it. Of levels: the share of draws that have the row's own, half a draw added to
each.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data.sampling.encoding import scores
from pellucid.data.sampling.margin import Margin, normal_density

_WIDTHS = (0.05, 0.1, 0.2, 0.35)
_NORMAL = 0.05  # share of the normal density
FEW_LEVELS = 20  # up to as many values are told apart


def log_scores(margin: Margin, own: FloatArray, drawn: FloatArray) -> FloatArray:
    """The log score of each row with value ``own`` ``(rows,)`` and draws ``(rows, draws)``."""
    if margin.levels or len(margin.values) <= FEW_LEVELS:
        hits = ((drawn == own[:, None]) | (np.isnan(drawn) & np.isnan(own)[:, None])).sum(axis=1)
        return np.asarray(np.log((hits + 0.5) / (drawn.shape[1] + 0.5 * len(margin.values))))
    z, at = scores(margin, drawn.ravel()).reshape(drawn.shape), scores(margin, own)
    apart, normal = np.square(z - at[:, None]), np.maximum(normal_density(at), 1e-6)
    best: FloatArray | None = None
    for width in _WIDTHS:
        density = np.exp(-apart / (2 * width * width)).mean(axis=1) / (width * np.sqrt(2 * np.pi))
        found = np.log((1.0 - _NORMAL) * density + _NORMAL * normal)
        if best is None or found.mean() > best.mean():
            best = found
    assert best is not None
    return best
