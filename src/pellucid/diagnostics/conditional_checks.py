"""The caveats of conditional permutation importance: features that the others determine, and draws that do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.association import mid_ranks
from pellucid.data.sampling.conditional_draws import Draws
from pellucid.data.sampling.margin import nominal_features
from pellucid.diagnostics.general import general_caveats
from pellucid.explanations.caveat import Caveat
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import listed, percent

_DETERMINED = 0.9
_OFF = 0.12
_USUAL = 0.95
_ROWS = 1000
_FEWEST = 100
_PARTNERS = 2
_NEAR = 0.05  # ranks, as shares of the rows
_TOP = 5

Players = Mapping[str, tuple[int, ...]]


def conditional_caveats(
    predictor: Predictor, data: Data, run: Run, *, players: Players, draws: Draws, values: FloatArray
) -> tuple[Caveat, ...]:
    """Everything known against these importances on these data."""
    caveats = general_caveats(predictor, data, run)
    if not run.checks or run.interrupted or len(data) < _FEWEST:
        return caveats
    top = np.array(list(players))[np.argsort(-values, kind="stable")][:_TOP]
    single = [name for name in top if len(players[name]) == 1]
    off = [
        caveat
        for name in single
        for caveat in _off_data(data, name, players[name][0], draws.codes[name][0, :, 0], draws.strength)
    ]
    return (*caveats, *_determined(data, players, draws.codes), *off)


def _determined(data: Data, players: Players, drawn: Mapping[str, FloatArray]) -> Iterator[Caveat]:
    """Features whose drawn values hardly differ from their own: the others determine them."""
    nominal = nominal_features(data)
    fixed = {
        name: min(
            fixed_share(data.codes(j), drawn[name][..., f], data.weights, bool(nominal[j]))
            for f, j in enumerate(columns)
        )
        for name, columns in players.items()
    }
    names = sorted((name for name, share in fixed.items() if share > _DETERMINED), key=lambda name: -fixed[name])
    if names:
        them = "it" if len(names) == 1 else "them"
        yield Caveat(
            code="determined",
            message=(
                f"The other features determine {listed(names)} almost (to {percent(fixed[names[0]])}): given the others"
                f" hardly anything of {them} is left to matter, whatever the model does with {them}."
            ),
            value=fixed[names[0]],
            threshold=_DETERMINED,
            advice=(
                "Use method='permutation' for what the model relies on, or make features that go together one group"
                " (groups=, see clusters())."
            ),
            feature=names[0],
        )


def fixed_share(own: FloatArray, drawn: FloatArray, weights: FloatArray, nominal: bool) -> float:
    """One less the mean squared difference of ranks (or share of other levels) as a part of that of random rows; 0 for
    a constant.
    """
    if nominal:
        levels, place = np.unique(own, return_inverse=True)
        apart = 1.0 - float(np.square(np.bincount(place, weights, len(levels)) / weights.sum()).sum())
        moved = ~((drawn == own) | (np.isnan(drawn) & np.isnan(own)))
        found = float(np.average(moved.mean(axis=0), weights=weights))
        return 1.0 - found / apart if apart > 0 else 0.0
    there = ~np.isnan(own)
    if not (weights[there] > 0).any():
        return 0.0
    rank = mid_ranks(own, weights)
    centre = np.average(rank[there], weights=weights[there])
    apart = 2 * float(np.average(np.square(rank[there] - centre), weights=weights[there]))
    steps = np.sort(own[there & (weights > 0)])
    other = np.searchsorted(steps, drawn, side="left") + np.searchsorted(steps, drawn, side="right")
    known = there & ~np.isnan(drawn)
    change = np.square(np.where(known, other / (2 * len(steps)) - np.where(there, rank, 0.0), 0.0))
    mass = np.broadcast_to(weights, known.shape)[known].sum()
    return 1.0 - float((change * weights)[known].sum() / mass) / apart if apart > 1e-12 and mass > 0 else 0.0


def _off_data(data: Data, name: str, j: int, drawn: FloatArray, strength: FloatArray) -> Iterator[Caveat]:
    """Drawn values that with the rest of their row are unlike any row: the estimate missed how they go together."""
    partners = _partners(strength, j)
    share = drawn_off_data(data, (j, *partners), drawn) if partners else 0.0
    if share > _OFF:
        yield Caveat(
            code="draws-off-data",
            message=(
                f"{percent(share)} of the values drawn for {name} given the others make combinations with"
                f" {listed([data.schema.names[k] for k in partners])} that are unlike any row of the data."
            ),
            value=share,
            threshold=_OFF,
            advice=(
                "How these features go together was not learned: read the value as between conditional and permutation"
                " importance, or give more rows."
            ),
            feature=name,
        )


def _partners(strength: FloatArray, j: int) -> tuple[int, ...]:
    """The features that go together with feature j most."""
    return tuple([int(k) for k in np.argsort(-strength[j], kind="stable") if k != j][:_PARTNERS])


def drawn_off_data(data: Data, columns: tuple[int, ...], drawn: FloatArray) -> float:
    """Share of rows that, with their drawn value of the first column, are farther from the other rows than is usual
    (and than a twentieth of the rows).
    """
    from scipy.spatial import cKDTree  # on use: scipy.spatial is slow to import

    rows = data.spread(_ROWS)
    nominal = nominal_features(data)
    real = np.column_stack([_places(data.codes(k)[rows], data.codes(k)[rows], bool(nominal[k])) for k in columns])
    synthetic = real.copy()
    synthetic[:, 0] = _places(drawn[rows], data.codes(columns[0])[rows], bool(nominal[columns[0]]))
    tree = cKDTree(real)
    own = np.asarray(tree.query(real, k=2)[0])[:, 1]
    near, who = (np.asarray(found) for found in tree.query(synthetic, k=2))
    # A row is no witness for its own drawn value.
    distance = np.where(who[:, 0] == np.arange(len(rows)), near[:, 1], near[:, 0])
    return float((distance > max(float(np.quantile(own, _USUAL)), _NEAR)).mean())


def _places(codes: FloatArray, reference: FloatArray, nominal: bool) -> FloatArray:
    """Ranks among the reference rows; categories far apart from each other, missing apart from all."""
    if nominal:
        return np.where(np.isnan(codes), -1.0, codes)
    known = np.sort(reference[~np.isnan(reference)])
    middle = (np.searchsorted(known, codes, side="left") + np.searchsorted(known, codes, side="right")) / 2
    return np.where(np.isnan(codes), 2.0, middle / max(len(known), 1))
