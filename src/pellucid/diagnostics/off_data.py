"""Correlated features make synthetic points that no row resembles: what share of them?

A feature's values are shuffled against the rest. In the space of the feature and the two features most
associated with it, all as ranks, a shuffled point is *off the data* when its nearest real row is farther
than 95% of real rows are from theirs. Independent features give 5%.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.association import SLICED, association_matrix, association_rows, has_trend, only_lines
from pellucid.data.sampling.margin import nominal_features
from pellucid.data.sampling.missed import Missed
from pellucid.diagnostics.general import Players
from pellucid.explanations import Anchor, Caveat, Decomposition
from pellucid.explanations.advice import advice
from pellucid.runner import Run
from pellucid.words import listed, number, percent

_WIDEST = 2000
_FEWEST = 20
_LOOKS = ((600, 200), (3000, 1000))  # rows, and points shuffled: the second look unless the first is plain
_PARTNERS = 2
_PLAIN = 0.2
_CHANCE = 0.05  # in any of the pairs
_USUAL = 0.95
_ASSOCIATED = 0.3
_SHARE = 0.12
_TOP = 5
_METHODS = {"marginal": "partial dependence", "anova": "functional ANOVA"}
_OFF = 0.12
_MISSED = 0.3
_NEAR = 0.05  # ranks, as shares of the rows
_ROWS = 600


@dataclass(frozen=True)
class OffData:
    """Share of shuffled points off the data, and the feature most associated with the one shuffled."""

    share: float
    partner: str
    association: float


def associations(data: Data, run: Run) -> FloatArray | None:
    """The association matrix without what chance could make, worked out once; None for tables too wide for it."""
    if len(data.schema.features) > _WIDEST:
        return None
    matrix: FloatArray = run.remember("association", lambda: association_matrix(data, 1000, chance=_CHANCE))
    return matrix


def _strengths(data: Data, columns: Sequence[int], run: Run) -> dict[int, FloatArray] | None:
    """The lines of the matrix that belong to some features: of a wide table without all the others."""
    if len(data.schema.features) > _WIDEST:
        return None
    if len(data.schema.features) <= SLICED or not only_lines(data, columns):
        matrix = associations(data, run)
        return None if matrix is None else {j: matrix[j] for j in columns}
    known: dict[int, FloatArray] = run.remember("association lines", dict)
    new = [j for j in columns if j not in known]
    if new:
        known |= dict(zip(new, association_rows(data, new, 1000, chance=_CHANCE), strict=True))
    return {j: known[j] for j in columns}


def off_data(data: Data, j: int, run: Run) -> OffData | None:
    """Measure how far shuffling feature ``j`` leaves the data; None with one feature or too few rows."""
    if len(data.schema.features) < 2 or len(data) < _FEWEST:
        return None
    strengths = _strengths(data, (j,), run)
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


def leaves_data(data: Data, j: int, run: Run) -> OffData | None:
    """Where shuffling a feature leaves the data: how far, and for which other feature."""
    strengths = _strengths(data, (j,), run)
    if strengths is None or np.delete(strengths[j], j).max(initial=0.0) < _ASSOCIATED:
        return None
    found: OffData | None = run.remember(f"off-data {j}", lambda: off_data(data, j, run))
    return None if found is None or found.share < _SHARE or found.association < _ASSOCIATED else found


def off_data_caveat(
    data: Data, j: int, run: Run, *, verb: str, method: str, asked: str | tuple[str, ...] = ""
) -> Iterator[Caveat]:
    """The method, which answers a verb, asks the model about points that do not occur; ``asked`` is what the advice is
    about, where that is not the feature.
    """
    found = leaves_data(data, j, run)
    if found is None:
        return
    name = data.schema.names[j]
    trend = has_trend(data, j, data.schema.index(found.partner), _ASSOCIATED)
    yield Caveat(
        code="off-data",
        message=(
            f"{name} {'is correlated with' if trend else 'depends on'} {found.partner} (association"
            f" {number(found.association)}):"
            f" {percent(found.share)} of the synthetic rows that {method} uses resemble no real row."
        ),
        value=found.share,
        threshold=_SHARE,
        advice=advice("off-data", verb, feature=asked or name),
        feature=name,
    )


def off_data_once(
    data: Data, columns: Iterable[int], run: Run, *, verb: str, method: str, asked: str | tuple[str, ...] = ""
) -> Iterator[Caveat]:
    """The same of several features, said once: of the one for which it is worst, with the names of the others."""
    columns = list(columns)
    _strengths(data, columns, run)  # of all of them at once
    leaving = {j: far for j in columns if (far := leaves_data(data, j, run)) is not None}
    if not leaving:
        return
    worst = max(leaving, key=lambda j: leaving[j].share)
    known = {data.schema.names[worst], leaving[worst].partner}  # the partner has been named
    others = listed([name for name in (data.schema.names[j] for j in leaving) if name not in known])
    more = f" The same holds for {others}." if others else ""
    for caveat in off_data_caveat(data, worst, run, verb=verb, method=method, asked=asked):
        yield replace(caveat, message=caveat.message + more)


def singles(players: Players, names: Iterable[str]) -> list[int]:
    """The columns of those players that are features, not groups."""
    return [players[name][0] for name in names if len(players[name]) == 1]


def mixed_off_data(data: Data, players: Players, values: FloatArray, run: Run) -> Iterator[Caveat]:
    """Whether giving the values of the most important features to other rows makes rows that do not occur."""
    names = list(players)
    top = [names[j] for j in np.argsort(-values, kind="stable")[:_TOP]]
    return off_data_once(data, singles(players, top), run, verb="permutation", method="permutation")


def local_off_data(data: Data, columns: Iterable[int], run: Run, kernel: bool) -> Iterator[Caveat]:
    """Samples of LIME that do not occur."""
    return off_data_once(data, columns, run, verb="lime" if kernel else "kernel shap", method="LIME")


def component_off_data(data: Data, run: Run, found: Decomposition, mixed: Sequence[int]) -> Iterator[Caveat]:
    """Features that are correlated with others, where averages leave the data."""
    method = _METHODS.get(found.method, found.method)
    return off_data_once(data, mixed, run, verb="decompose", method=method)


def uniform_off_data(data: Data, columns: tuple[int, ...], run: Run) -> Iterator[Caveat]:
    """Of the correlated features, the one most associated with another."""
    strengths = associations(data, run)
    if strengths is None or len(strengths) < 2:
        return
    others = strengths - np.eye(len(strengths)) * strengths
    worst = max(columns, key=lambda j: float(others[j].max()))
    yield from off_data_caveat(data, worst, run, verb="density", method="the uniform density")


def rule_off_data(rule: Anchor, data: Data, run: Run) -> Iterator[Caveat]:
    """Features of the rule are changed without those they are correlated with."""
    if rule.settings["perturb"] not in ("data", "balanced"):
        return
    columns = sorted({data.schema.index(condition.feature) for condition in rule.conditions})
    yield from off_data_once(data, columns, run, verb="anchor", method="the anchor")


def draws_miss_dependence(data: Data, name: str, missed: Missed) -> Iterator[Caveat]:
    """Rows' own values that are high, or far out, among those drawn for them wherever another feature says so."""
    if missed.association > _MISSED:
        yield Caveat(
            code="draws-miss",
            message=(
                f"The values drawn for {name} given the others miss how it depends on"
                f" {data.schema.names[missed.column]} (association left: {number(missed.association)})."
            ),
            value=missed.association,
            threshold=_MISSED,
            advice=(
                "No way of drawing fits well here, and what is missed is counted as importance: read the value as an"
                " upper bound, or give more rows."
            ),
            feature=name,
        )


def draws_off_data(data: Data, name: str, j: int, drawn: FloatArray, strength: FloatArray) -> Iterator[Caveat]:
    """Drawn values that with the rest of their row are unlike any row: the estimate missed how they are correlated."""
    partners = _partners(strength, j)
    share = drawn_off_data(data, (j, *partners), drawn) if partners else 0.0
    if share > _OFF:
        yield Caveat(
            code="draws-off-data",
            message=(
                f"{percent(share)} of the values drawn for {name} given the others give combinations with"
                f" {listed([data.schema.names[k] for k in partners])} that resemble no real row."
            ),
            value=share,
            threshold=_OFF,
            advice=(
                "The dependence of these features was not captured: read the value as between conditional and"
                " permutation importance, or give more rows."
            ),
            feature=name,
        )


def _partners(strength: FloatArray, j: int) -> tuple[int, ...]:
    """The features that are most correlated with feature j."""
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
