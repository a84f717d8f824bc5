"""The caveats of clusters: features that go together, a subset that still does, and rows too few to tell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import effective_size
from pellucid.data import Data
from pellucid.explanations import Clusters
from pellucid.explanations.caveat import Caveat
from pellucid.runner import Run
from pellucid.words import listed, number

_RISKY = 0.7


def cluster_caveats(result: Clusters, data: Data, run: Run) -> tuple[Caveat, ...]:
    """Everything known against these clusters."""
    if not run.checks:
        return ()
    return (*_together(result), *_still_together(result), *_few_rows(result, data))


def _together(result: Clusters) -> Iterator[Caveat]:
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
            message=f"{listed(members)} go together ({first}association {number(float(pairs[a, b]))}){more}.",
            value=float(pairs[a, b]),
            threshold=_RISKY,
            advice=(
                "Their single effects and importances are not separate: make them one group (Explainer(...,"
                " groups=clusters.groups)), fit the model on clusters.subset, or use ale and"
                " importance(method='conditional')."
            ),
            feature=result.feature_names[a],
        )


def _still_together(result: Clusters) -> Iterator[Caveat]:
    """Representatives that go together more than the threshold: the mean of their clusters does not."""
    chosen = result.representatives
    pairs = np.triu(result.values[np.ix_(chosen, chosen)], k=1)
    if len(chosen) < 2 or pairs.max() <= result.threshold:
        return
    a, b = np.unravel_index(int(np.argmax(pairs)), pairs.shape)
    yield Caveat(
        code="subset-together",
        message=(
            f"{result.subset[a]} and {result.subset[b]} stand for different clusters but go together"
            f" ({number(float(pairs[a, b]))}): their clusters as a whole do so less."
        ),
        value=float(pairs[a, b]),
        threshold=result.threshold,
        advice=(
            "Lower the threshold, or leave one of the two out; interactions() on the subset tells whether it matters."
        ),
        feature=result.subset[a],
    )


def _few_rows(result: Clusters, data: Data) -> Iterator[Caveat]:
    """Chance alone would give such an association to one pair in twenty."""
    size = effective_size(data.weights)
    chance = 1.96 / float(np.sqrt(max(size - 1, 1.0)))
    if chance > result.threshold and len(result.labels) > 1:
        yield Caveat(
            code="few-rows-for-clusters",
            message=f"With {number(size)} rows even unrelated features {_by_chance(chance)}.",
            value=min(chance, 1.0),
            threshold=result.threshold,
            advice="Give more rows or a higher threshold.",
        )


def _by_chance(chance: float) -> str:
    if chance >= 1:
        return "may go together completely"
    return f"have an association above {number(chance)} in one of twenty pairs"
