"""An explained row far outside the data: the model extrapolates there, and no explanation says more than the model
knows.

How far a value lies beyond the least or the greatest of its feature, as a share of the distance between these two. Rows
of X are never outside; a new row like them is by more than a quarter only where tails are long and rows few.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.explanations import Caveat
from pellucid.runner.intervention import blocks
from pellucid.words import listed, value_name

_FAR = 0.25
_NAMED = 3
_AT_ONCE = 1 << 15  # cells


def far_row(data: Data, rows: Data) -> Iterator[Caveat]:
    """Rows with values far below or above all of the data, one caveat for all of them."""
    farthest, count, i = np.zeros(len(data.schema.features)), 0, -1
    step = max(1, _AT_ONCE // len(farthest))
    for block in blocks(len(rows), step):
        beyond = _beyond(data, rows if len(rows) <= step else rows.take(np.arange(block.start, block.stop)))
        count += int((beyond > _FAR).any(axis=1).sum())
        worst = int(np.argmax(beyond.max(axis=1, initial=0.0)))
        if beyond[worst].max(initial=0.0) > farthest.max(initial=0.0):
            farthest, i = beyond[worst].copy(), block.start + worst
    if not count:
        return
    j = int(np.argmax(farthest))
    feature = data.schema.features[j]
    cell = rows.take(np.array([i])).codes(j)[0]
    own, low, high = feature.decode(np.array([cell, feature.low, feature.high]))
    name = data.schema.names[j]
    others = [data.schema.names[int(k)] for k in np.argsort(-farthest, kind="stable") if farthest[k] > _FAR and k != j]
    others = others[:_NAMED]
    where = "" if count == 1 else f"; {count:,} of {len(rows):,} rows have such values"
    also = f" (so {'is' if len(others) == 1 else 'are'} {listed(others)})" if others else ""
    yield Caveat(
        code="far-row",
        message=(
            f"{name} = {value_name(own)} is far outside the data, which go from {value_name(low)} to"
            f" {value_name(high)}{also}{where}: the model extrapolates there."
        ),
        value=float(farthest[j]),
        threshold=_FAR,
        advice="Do not rely on the prediction or its explanation; the model has seen no such rows.",
        feature=name,
    )


def _beyond(data: Data, rows: Data) -> FloatArray:
    """``(rows, features)``: how far each value is outside its range, in widths of the range; levels never are."""
    ends = [(j, f.low, f.high) for j, f in enumerate(data.schema.features) if not f.nominal and f.high > f.low]
    found = np.zeros((len(rows), len(data.schema.features)))
    if ends:
        columns = [j for j, _, _ in ends]
        low, high = np.array([end[1:] for end in ends], dtype=np.float64).T
        codes = np.column_stack([rows.codes(j) for j in columns])
        outside = np.maximum(low - codes, codes - high) / (high - low)
        found[:, columns] = np.where(np.isnan(outside), 0.0, outside)
    return found
