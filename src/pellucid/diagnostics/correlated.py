"""Correlated features hold the same information: their effects mix, and they share or borrow importance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.association import has_trend, mid_ranks
from pellucid.data.sampling.margin import nominal_features
from pellucid.diagnostics.general import SAMPLE_ROWS, Players, exchanged_predictions, sample_predictions
from pellucid.diagnostics.off_data import associations
from pellucid.explanations import Caveat, Clusters, Decomposition
from pellucid.explanations.clusters import group_name
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import listed, number, percent

_ASSOCIATED = 0.3
_CLUSTERS = 5
_ONE_IN = 4  # features: a cluster costs as much as one
_SHARED = 0.2
_SPELLED = 4  # features of a group that is written out
_TOGETHER = 0.7
_NOTICED = 0.05  # of all importance; nobody reads less
_ROUNDING = 1e-9  # of the range of the predictions
_DETERMINED = 0.9
_DRAWS = 2  # for each row, that are looked at
_LOOKED_AT = 12  # components, the largest
_MIXED = 0.9
_WORTH = 0.01  # of the variance: smaller parts may mix
_RISKY = 0.7


@dataclass(frozen=True, eq=False)
class Measured:
    """Importances with their errors, and ``joint``, which measures several features together, as ``compare`` says."""

    players: Players
    values: FloatArray
    errors: FloatArray
    compare: str
    joint: Callable[[tuple[int, ...]], float]


def mixing_caveat(data: Data, j: int, run: Run) -> Iterator[Caveat]:
    """Another feature is associated with this one, so their effects mix."""
    strengths = associations(data, run) if run.checks and len(data.schema.features) > 1 else None
    if strengths is None:
        return
    strength = strengths[j].copy()
    strength[j] = -1.0
    other = int(np.argmax(strength))
    if strength[other] < _ASSOCIATED:
        return
    name, partner = data.schema.names[j], data.schema.names[other]
    trend = has_trend(data, j, other, _ASSOCIATED)
    yield Caveat(
        code="mixed-effects",
        message=(
            f"{name} {'is correlated with' if trend else 'depends on'} {partner} (association"
            f" {number(float(strength[other]))}), so this curve mixes the effects of both."
        ),
        value=float(strength[other]),
        threshold=_ASSOCIATED,
        advice=f"Use ale({name!r}) for the effect of {name} alone.",
        feature=name,
    )


def shared_importance(data: Data, run: Run, found: Measured, words: str) -> Iterator[Caveat]:
    """One caveat for each cluster that has more together than its best member.

    ``words`` say what the members do and how they were measured together.
    """
    strengths = associations(data, run)
    values, errors = found.values, found.errors
    place = {player[0]: p for p, player in enumerate(found.players.values()) if len(player) == 1}
    neutral = 1.0 if found.compare == "ratio" else 0.0
    clusters = [] if strengths is None else strong_clusters(strengths, place)
    clusters.sort(key=lambda cluster: -max(float(values[place[j]]) for j in cluster))
    for cluster in clusters[: min(_CLUSTERS, max(1, len(found.players) // _ONE_IN))]:
        own = [place[j] for j in cluster]
        largest, noise = float(values[own].max()), float(np.nan_to_num(errors[own]).max())
        with run.until_interrupted():  # the values are known; only this check is cut short
            together = found.joint(cluster)
        if run.interrupted:
            return
        if together - neutral > (1 + _SHARED) * max(largest - neutral, 0.0) + 2 * noise + 1e-12:
            yield _shared([data.schema.names[j] for j in cluster], words, together, largest)


def _shared(names: list[str], words: str, together: float, largest: float) -> Caveat:
    return Caveat(
        code="shared-importance",
        message=(
            f"{listed(names)} are correlated and {words} together they have {number(together)}, alone at most"
            f" {number(largest)}."
        ),
        value=together,
        threshold=largest,
        advice=f"Read them as one group: {as_one_group(names)}.",
        feature=names[0],
    )


def as_one_group(names: list[str]) -> str:
    """How features are made one group, to be copied where it is short."""
    if len(names) > _SPELLED:
        return "Explainer(..., groups=), with the groups that clusters() finds"
    return f"Explainer(..., groups={ {group_name(names): names} })"


def strong_clusters(strength: FloatArray, allowed: Iterable[int]) -> list[tuple[int, ...]]:
    """Connected features whose association is strong."""
    from scipy.sparse.csgraph import connected_components  # on use: slow to import

    some = np.array(sorted(allowed), dtype=np.intp)
    if not some.size:
        return []
    count, label = connected_components(strength[np.ix_(some, some)] >= _TOGETHER, directed=False)
    found = [tuple(some[label == c].tolist()) for c in range(count)]
    return [cluster for cluster in found if len(cluster) > 1]


def split_importance(data: Data, run: Run, players: Players, values: FloatArray) -> Iterator[Caveat]:
    """What correlated features tell is split between them; the values add up, so the group has their sum."""
    single = {
        player[0]: float(value) for player, value in zip(players.values(), values, strict=True) if len(player) == 1
    }
    strengths = associations(data, run)
    for cluster in [] if strengths is None else strong_clusters(strengths, single):
        together, largest = sum(single[j] for j in cluster), max(single[j] for j in cluster)
        if together > (1 + _SHARED) * max(largest, 0.0) + 1e-12 and together > _NOTICED * np.abs(values).sum():
            names = [data.schema.names[j] for j in cluster]
            yield _shared(names, "their importance is split between them:", together, largest)


def independence_assumed(data: Data, run: Run, players: Players, overall: FloatArray) -> Iterator[Caveat]:
    """Two features that matter are correlated, but were varied independently."""
    strengths = associations(data, run)
    if strengths is None:
        return
    names = [name for name, index in zip(players, overall, strict=True) if index >= _NOTICED]
    pairs = [
        (float(strengths[np.ix_(players[a], players[b])].max()), a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    ]
    strongest, a, b = max(pairs, default=(0.0, "", ""))
    if strongest > _ASSOCIATED:
        yield Caveat(
            code="independence-assumed",
            message=(
                f"{a} and {b} are correlated (association {number(strongest)}), but the shares of variance are those of"
                " independent features."
            ),
            value=strongest,
            threshold=_ASSOCIATED,
            advice="Use method='shapley-effects', or treat correlated features as one group (groups=).",
            feature=a,
        )


def borrowed_share(
    predictor: Predictor, data: Data, run: Run, players: Players, values: FloatArray
) -> Iterator[Caveat]:
    """A feature that changes no prediction has a share, for the company it keeps."""
    some = data.take(data.spread(SAMPLE_ROWS))
    before = predictor.restrict(sample_predictions(predictor, some, run))
    shares = {
        name: float(value) for name, value in zip(players, values.mean(axis=-1), strict=True) if value >= _NOTICED
    }
    if not shares:
        return
    donors = run.generator("correlated.donors").permutation(len(some))[None]
    after = exchanged_predictions(predictor, some, [players[name] for name in shares], donors, run)
    for (name, value), found in zip(shares.items(), after, strict=True):
        if np.abs(found - before).max() <= _ROUNDING * np.ptp(before):
            yield Caveat(
                code="borrowed-share",
                message=(
                    f"The predictions do not use {name} at all; its share of {percent(float(value))} comes from"
                    " features that it is correlated with."
                ),
                value=float(value),
                threshold=_NOTICED,
                advice="method='sobol' tells which features the model uses.",
                feature=name,
            )
            return


def determined(data: Data, players: Players, drawn: Mapping[str, FloatArray]) -> Iterator[Caveat]:
    """Features whose drawn values hardly differ from their own: the others determine them."""
    nominal = nominal_features(data)
    fixed = {
        name: min(
            fixed_share(data.codes(j), drawn[name][:_DRAWS, :, f], data.weights, bool(nominal[j]))
            for f, j in enumerate(columns)
        )
        for name, columns in players.items()
    }
    names = sorted((name for name, share in fixed.items() if share > _DETERMINED), key=lambda name: -fixed[name])
    if names:
        one = len(names) == 1
        are, they, own, them = ("is", "it has", "its own", "it") if one else ("are", "they have", "their own", "them")
        yield Caveat(
            code="determined",
            message=(
                f"{listed(names)} {are} almost determined by the other features (to {percent(fixed[names[0]])}): given"
                f" these, {they} hardly any information of {own}, whatever the model does with {them}."
            ),
            value=fixed[names[0]],
            threshold=_DETERMINED,
            advice=(
                "Use method='permutation' for what the model relies on, or make correlated features one group"
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


def mixed_components(found: Decomposition, mixing: Callable[[int], float]) -> Iterator[Caveat]:
    """Of the largest components, the one that others can say best."""
    shares = np.abs(found.stacked()).max(axis=-1)
    said = {int(k): mixing(int(k)) for k in found.ranking[:_LOOKED_AT] if shares[k] > _WORTH}
    worst = max(said, key=lambda k: said[k], default=0)
    if said and said[worst] > _MIXED:
        name = found.components[worst].name
        what = f"the main effect of {name}" if len(found.sets[worst]) == 1 else name
        yield Caveat(
            code="mixed-effects",
            message=(
                f"Functions of the other features reproduce {percent(said[worst])} of {what}: the data hardly tell"
                " which of them it belongs to."
            ),
            value=said[worst],
            threshold=_MIXED,
            advice="Read such parts as one, leave one of them out of features=, or use method='ale'.",
            feature=name,
        )


def clustered_features(result: Clusters) -> Iterator[Caveat]:
    """The largest cluster with a strong pair."""
    pairs = np.triu(np.where(result.labels[:, None] == result.labels[None, :], result.values, 0.0), k=1)
    a, b = np.unravel_index(int(np.argmax(pairs)), pairs.shape)
    if pairs[a, b] > _RISKY:
        members = result.members[int(result.labels[a])]
        count = sum(len(m) > 1 for m in result.members)
        first = "" if len(members) == 2 else f"{result.feature_names[a]} and {result.feature_names[b]} most of all, "
        more = f"; {count} clusters have several features" if count > 1 else ""
        yield Caveat(
            code="clustered-features",
            message=f"{listed(members)} are correlated ({first}association {number(float(pairs[a, b]))}){more}.",
            value=float(pairs[a, b]),
            threshold=_RISKY,
            advice=(
                "Their single effects and importances are not separate: make them one group (Explainer(...,"
                " groups=clusters.groups)), fit the model on clusters.subset, or use ale and"
                " importance(method='conditional')."
            ),
            feature=result.feature_names[a],
        )


def subset_together(result: Clusters) -> Iterator[Caveat]:
    """Representatives that are correlated more than the threshold, although their clusters on average are not."""
    chosen = result.representatives
    pairs = np.triu(result.values[np.ix_(chosen, chosen)], k=1)
    if len(chosen) < 2 or pairs.max() <= result.threshold:
        return
    a, b = np.unravel_index(int(np.argmax(pairs)), pairs.shape)
    yield Caveat(
        code="subset-together",
        message=(
            f"{result.subset[a]} and {result.subset[b]} stand for different clusters but are correlated"
            f" ({number(float(pairs[a, b]))}): their clusters as a whole are less so."
        ),
        value=float(pairs[a, b]),
        threshold=result.threshold,
        advice=(
            "Lower the threshold, or leave one of the two out; interactions() on the subset tells whether it matters."
        ),
        feature=result.subset[a],
    )
