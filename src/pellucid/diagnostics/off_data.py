"""Features that go together make synthetic points that no row resembles: what share of them?

A feature's values are shuffled against the rest. In the space of the feature and the two features most
associated with it, all as ranks, a shuffled point is *off the data* when its nearest real row is farther
than 95% of real rows are from theirs. Independent features give 5%.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.association import association_matrix
from pellucid.explanations.caveat import Caveat
from pellucid.runner import Run
from pellucid.words import number, percent

_LOOKS = ((600, 200), (3000, 1000))  # rows, and points shuffled: the second look unless the first is plain
_PLAIN = 0.2
_PARTNERS = 2
_USUAL = 0.95
_SHARE = 0.12
_ASSOCIATED = 0.3
_FEWEST = 20
_WIDEST = 2000


@dataclass(frozen=True)
class OffData:
    """Share of shuffled points off the data, and the feature most associated with the one shuffled."""

    share: float
    partner: str
    association: float


def associations(data: Data, run: Run) -> FloatArray | None:
    """The association matrix, worked out once; None for tables too wide for it."""
    if len(data.schema.features) > _WIDEST:
        return None
    matrix: FloatArray = run.remember("association", lambda: association_matrix(data, 1000))
    return matrix


def off_data(data: Data, j: int, run: Run) -> OffData | None:
    """Measure how far shuffling feature ``j`` leaves the data; None with one feature or too few rows."""
    if len(data.schema.features) < 2 or len(data) < _FEWEST:
        return None
    strengths = associations(data, run)
    if strengths is None:
        return None
    strength = strengths[j].copy()
    strength[j] = -1.0
    partners = np.argsort(-strength, kind="stable")[: min(_PARTNERS, len(strength) - 1)]
    columns = (j, *(int(k) for k in partners))
    for rows, points in _LOOKS:
        share = _share_off_data(data, columns, rows, points)
        if share >= _PLAIN:
            break
    best = columns[1]
    return OffData(share, data.schema.names[best], float(strength[best]))


def _share_off_data(data: Data, columns: tuple[int, ...], most: int, points: int) -> float:
    """Share of shuffled points farther from the real rows than is usual between them; the first column is shuffled."""
    from scipy.spatial import cKDTree  # on use: scipy.spatial is slow to import

    rows = data.spread(most)
    real = np.column_stack([_ranks(data, k, rows) for k in columns])
    generator = np.random.default_rng(0)
    chosen = generator.permutation(len(rows))[:points]
    synthetic = real[chosen].copy()
    synthetic[:, 0] = real[generator.permutation(len(rows))[: len(chosen)], 0]
    tree = cKDTree(real)
    own = np.asarray(tree.query(real[chosen], k=2)[0])[:, 1]
    far = np.asarray(tree.query(synthetic, k=1)[0]) > np.quantile(own, _USUAL) + 1e-12
    return float(far.mean())


def _ranks(data: Data, k: int, rows: np.ndarray) -> FloatArray:
    """Ranks in [0, 1]; unordered categories far apart from each other, missing apart from all."""
    codes = data.codes(k)[rows]
    if data.schema.features[k].kind in ("categorical", "boolean"):
        return np.where(np.isnan(codes), -1.0, codes)
    _, index, counts = np.unique(codes, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts - 1) / 2  # tied values share their mean rank
    return np.where(np.isnan(codes), 2.0, middles[index] / len(codes))


def off_data_caveat(data: Data, j: int, run: Run, *, method: str) -> Iterator[Caveat]:
    """The method asks the model about points that do not occur."""
    strengths = associations(data, run)
    if strengths is None or np.delete(strengths[j], j).max(initial=0.0) < _ASSOCIATED:
        return
    found: OffData | None = run.remember(f"off-data {j}", lambda: off_data(data, j, run))
    if found is None or found.share < _SHARE or found.association < _ASSOCIATED:
        return
    name = data.schema.names[j]
    yield Caveat(
        code="off-data",
        message=(
            f"{name} goes together with {found.partner} (association {number(found.association)}):"
            f" {percent(found.share)} of the combinations that {method} asks the model about are unlike any row of the"
            " data."
        ),
        value=found.share,
        threshold=_SHARE,
        advice=f"Use ale({name!r}), or treat the two features as one group.",
        feature=name,
    )
