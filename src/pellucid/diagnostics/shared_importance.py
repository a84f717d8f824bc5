"""Features that go together hold the same information: what they have together is more than what each has alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.off_data import associations
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.clusters import group_name
from pellucid.runner import Run
from pellucid.words import listed, number

_TOGETHER = 0.7
_SHARED = 0.2
_CLUSTERS = 5
_SPELLED = 4  # features of a group that is written out

Joint = Callable[[tuple[int, ...]], float]


def shared_importance(
    data: Data,
    run: Run,
    *,
    players: dict[str, tuple[int, ...]],
    values: FloatArray,
    errors: FloatArray,
    compare: str,
    joint: Joint,
    words: str,
) -> Iterator[Caveat]:
    """One caveat for each cluster that has more together than its best member; ``joint`` measures a cluster.

    ``words`` say what the members do and how they were measured together.
    """
    strengths = associations(data, run)
    place = {player[0]: p for p, player in enumerate(players.values()) if len(player) == 1}
    neutral = 1.0 if compare == "ratio" else 0.0
    for cluster in [] if strengths is None else strong_clusters(strengths, place)[:_CLUSTERS]:
        own = [place[j] for j in cluster]
        largest, noise = float(values[own].max()), float(np.nan_to_num(errors[own]).max())
        try:
            together = joint(cluster)
        except KeyboardInterrupt:  # the values are known; only this check is cut short
            run.interrupted = True
        if run.interrupted:
            return
        if together - neutral > (1 + _SHARED) * max(largest - neutral, 0.0) + 2 * noise + 1e-12:
            names = [data.schema.names[j] for j in cluster]
            yield Caveat(
                code="shared-importance",
                message=(
                    f"{listed(names)} go together and {words} together they have {number(together)}, alone at most"
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
