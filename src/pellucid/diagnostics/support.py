"""Parts of a grid where there are few data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.data import Data
from pellucid.explanations.caveat import Caveat
from pellucid.words import listed, percent, value_name

_ROWS = 5
_SHARE = 0.1


def support_caveat(
    data: Data, chosen: tuple[int, ...], points: tuple[FloatArray, ...], counts: FloatArray
) -> Iterator[Caveat]:
    """Grid points, bins or cells with fewer than five rows."""
    rows = counts / data.weights.sum() * len(data)
    thin = rows < _ROWS - 1e-9
    share = float(thin.mean()) if thin.size else 0.0
    if share < _SHARE:
        return
    features = [data.schema.features[j] for j in chosen]
    names = listed([feature.name for feature in features])
    if len(chosen) == 1:
        where = _where(features[0].decode(points[0]), thin, features[0].nominal)
    else:
        where = f"{int(thin.sum())} of {thin.size} combinations"
    yield Caveat(
        code="few-data",
        message=f"{percent(share)} of the grid of {names} rests on fewer than {_ROWS} rows each ({where}).",
        value=share,
        threshold=_SHARE,
        advice="Do not read the effect there.",
        feature=names,
    )


def _where(values: AnyArray, thin: AnyArray, nominal: bool) -> str:
    """The thin part in words: levels, or stretches of the axis."""
    if len(values) == len(thin) + 1:  # bins between edges
        starts, ends = values[:-1], values[1:]
    else:
        starts = ends = values
    if nominal:
        return listed([value_name(value) for value in values[thin]], 4)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], thin.astype(int), [0]])))
    stretches = [(starts[a], ends[b - 1]) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    said = [value_name(a) if a == b else f"{value_name(a)} to {value_name(b)}" for a, b in stretches]
    return listed(said, 3)
