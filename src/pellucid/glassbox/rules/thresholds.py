"""Thresholds that can be read: the shortest number that parts two others."""

from __future__ import annotations

import numpy as np

from pellucid.data.schema import DAY

_NEAR = 0.25  # of the gap: as far from either end


def readable(low: float, high: float, *, date: bool = False) -> float:
    """The shortest decimal in the middle half of the gap from ``low`` to ``high``; of dates a whole day.

    >>> readable(12.3456, 12.61), readable(0.0, 1.0), readable(731.0, 2210.0)
    (12.5, 0.5, 1500.0)
    """
    if date:
        day = np.ceil(low / DAY) * DAY
        return float(day) if low <= day < high else _middle(low, high)
    edge = _NEAR * (high - low)
    a, b = low + edge, high - edge
    if not (np.isfinite(edge) and a < b):
        return _middle(low, high)
    for power in range(int(np.floor(np.log10(b - a))) + 1, -20, -1):
        if -15 <= power <= 15:
            middle = round((a + b) / 2, -power)
            if a <= middle <= b and low <= middle < high:
                return float(middle)
    return _middle(low, high)


def _middle(low: float, high: float) -> float:
    """Half way, and never the number above."""
    middle = low + (high - low) / 2
    return low if middle >= high else middle
