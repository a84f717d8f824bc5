"""The network of interactions that a model needs.

Hooker 2004 (Variable Interaction Network); the costs are those of Liu and Owen 2006.

Leaving out a set of features u means leaving out every component of the model that contains u; that loses the share
cost(u) of the variance. Leaving out several sets loses at most the sum of their costs, and of sets within each other
only the smallest ones count (the union bound).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.checks import bounded
from pellucid.errors import InputError
from pellucid.explanations.explanation import Explanation, Header
from pellucid.explanations.plot_options import NetworkOptions
from pellucid.explanations.store import stored
from pellucid.words import counted, listed, percent

if TYPE_CHECKING:
    from pellucid.explanations.interactions import Interactions

Names = tuple[str, ...]
_SMALL = 0.001  # a share that is told as "less than 0.1%"


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Network(Explanation, options=NetworkOptions):
    """The features (nodes), pairs (edges) and triples that are needed to stay within ``loss`` of the variance.

    ``values`` are the costs of exclusion of the ``edges``, shares of the prediction's variance, the most costly first,
    and ``se`` their standard errors. ``sizes`` are the costs of the ``feature_names``: their total importance,
    interactions included. ``triples`` with ``triple_costs`` are the groups of three that act together beyond their
    pairs. Without the features ``left_out`` and the pairs that are no edges the model loses at most ``lost``;
    ``examined`` is the number of pairs whose cost was measured, ``additive`` the share lost by leaving out every
    interaction.
    """

    edges: tuple[Names, ...]
    sizes: FloatArray
    size_se: FloatArray
    triples: tuple[Names, ...] = ()
    triple_costs: FloatArray
    triple_se: FloatArray
    left_out: Names = ()
    loss: float
    lost: float
    additive: float = np.nan
    examined: int = 0
    possible: int = 0

    def columns(self) -> dict[str, AnyArray]:
        """One row per feature, pair and triple that is needed, with its cost; the features left out have none."""
        sets = [*((name,) for name in self.feature_names), *self.edges, *self.triples]
        return {
            "features": np.array([" × ".join(names) for names in sets] or [""], dtype=object)[: len(sets)],
            "order": np.array([len(names) for names in sets], dtype=np.int64),
            "cost": np.concatenate([self.sizes, self.values, self.triple_costs]),
            "se": np.concatenate([self.size_se, self.se, self.triple_se]),
        }

    def findings(self) -> list[str]:
        return [*self._needed(), *self._strongest(), *self._more()]

    def _needed(self) -> list[str]:
        n, share = len(self.edges), f"{100 * self.loss:g}%"
        if self.additive == 0:
            return ["The model is additive in these features: no interaction is needed to reproduce it."]
        are = "is" if n <= 1 else "are"
        words = (
            f"{n or 'None'} of {counted(self.examined, 'pair')} {are} needed to reproduce the"
            f" predictions within {share} of their variance"
        )
        alone = f"; interactions explain about {percent(self.additive)} of it" if np.isfinite(self.additive) else ""
        return [f"{words}{alone}."]

    def _strongest(self) -> list[str]:
        said = [
            f"{' × '.join(pair)} ({percent(float(cost))})"
            for pair, cost in zip(self.edges[:4], self.values, strict=False)
        ]
        return [f"Largest interactions, by share of the variance: {listed(said)}."] if said else []

    def _more(self) -> list[str]:
        lines = []
        if self.triples:
            said = [
                f"{' × '.join(names)} ({percent(float(cost))})"
                for names, cost in zip(self.triples[:3], self.triple_costs, strict=False)
            ]
            more = f" and {len(self.triples) - 3} more" if len(self.triples) > 3 else ""
            lines.append(f"Three-way interactions: {listed(said)}{more}.")
        if self.left_out:
            lines.append(f"Features that are not needed: {listed(self.left_out)}.")
        if self.examined < self.possible:
            lines.append(
                f"{self.possible - self.examined} of the {self.possible} pairs were not examined, most of them between"
                " the least important features; they count as kept."
            )
        most = "" if 0 < self.lost < _SMALL else "at most "
        lines.append(
            f"What is left out explains {most}{percent(self.lost)} of the variance, if features are independent."
        )
        return lines


def network(interactions: Interactions, loss: Any, output: str | None) -> Network:
    """The network of a result, from its costs of exclusion."""
    loss = bounded("loss", loss, least=0, below=1)
    if not interactions.parts:
        raise InputError(
            "this result has no costs of exclusion (network=False, or the work was interrupted); call interactions()"
            " again."
        )
    pooled, se = pooled_costs(interactions, output)
    costs = dict(zip(map(frozenset, interactions.parts), map(float, pooled), strict=True))
    errors = dict(zip(map(frozenset, interactions.parts), map(float, se), strict=True))
    dropped, lost = fewest_kept(costs, float(loss), pooled_additive(interactions, output))
    kept = [part for part in interactions.parts if not _is_left_out(part, dropped)]
    nodes, edges, triples = (_costly([part for part in kept if len(part) == n], costs) for n in (1, 2, 3))
    singles = [part[0] for part in interactions.parts if len(part) == 1]
    return Network(
        values=_of(edges, costs),
        se=_of(edges, errors),
        header=Header(
            feature_names=tuple(part[0] for part in nodes),
            output_names=interactions.output_names if output is None else (str(output),),
            scale=interactions.scale,
            caveats=tuple(c for c in interactions.caveats if c.code in _ABOUT_COSTS),
            cost=interactions.cost,
            settings={
                "method": "network",
                "loss": float(loss),
                "output": output,
                "interactions": dict(interactions.settings),
            },
            library=interactions.library,
        ),
        edges=edges,
        sizes=_of(nodes, costs),
        size_se=_of(nodes, errors),
        triples=triples,
        triple_costs=_of(triples, costs),
        triple_se=_of(triples, errors),
        left_out=tuple(name for name in singles if (name,) not in nodes),
        loss=float(loss),
        lost=lost,
        additive=pooled_additive(interactions, output),
        examined=sum(len(part) == 2 for part in interactions.parts),
        possible=int(interactions.settings.get("pairs", 0)),
    )


# Caveats of interactions that hold for their network as well.
_ABOUT_COSTS = ("off-data", "poor-model", "unsteady-model", "logit-clipped", "partial", "costs-uncertain")


def fewest_kept(
    costs: Mapping[frozenset[str], float], loss: float, additive: float
) -> tuple[set[frozenset[str]], float]:
    """As `left_out`; no pair is kept where leaving out all of them at once, which costs ``additive``, is within the
    loss: what is in several pairs counts for each of them in the sum of their costs.
    """
    dropped, lost = left_out(costs, loss)
    pairs = {u for u in costs if len(u) == 2}
    if not additive <= loss or all(any(v <= u for v in dropped) for u in pairs):
        return dropped, lost
    dropped, lost = set(pairs), additive
    for u in sorted((u for u in costs if len(u) == 1), key=lambda u: (costs[u], sorted(u))):
        if lost + costs[u] <= loss * (1 + 1e-12):
            dropped, lost = {v for v in dropped if not u < v} | {u}, lost + costs[u]
    return dropped, lost


def left_out(costs: Mapping[frozenset[str], float], loss: float) -> tuple[set[frozenset[str]], float]:
    """The smallest sets to leave out with everything that contains them, and the sum of their costs, within ``loss``.

    Sets are tried from the least to the most costly, of equal ones the larger first, until none fits any more. A set
    that is left out stands for the larger ones that contain it, whose costs are then no longer counted.
    """
    order = sorted(costs, key=lambda u: (costs[u], -len(u), sorted(u)))
    with_feature: dict[str, set[frozenset[str]]] = {name: set() for u in costs for name in u}  # of those left out
    lost, more = 0.0, True
    while more:
        more = False
        for u in order:
            around = set[frozenset[str]]().union(*(with_feature[name] for name in u))
            freed = {v for v in around if u < v}
            after = lost + costs[u] - sum(costs[v] for v in freed)
            if any(v <= u for v in around) or after > loss * (1 + 1e-12):
                continue
            lost, more = after, True
            for v in freed:
                for name in v:
                    with_feature[name].discard(v)
            for name in u:
                with_feature[name].add(u)
    smallest = set[frozenset[str]]().union(*with_feature.values())
    return smallest, sum(costs[u] for u in smallest)


def _is_left_out(part: Names, dropped: set[frozenset[str]]) -> bool:
    """Whether a set of at most three features, or a part of it, is left out."""
    return any(frozenset(u) in dropped for n in range(1, len(part) + 1) for u in combinations(part, n))


def _costly(parts: list[Names], costs: Mapping[frozenset[str], float]) -> tuple[Names, ...]:
    """The most costly first."""
    return tuple(sorted(parts, key=lambda part: -costs[frozenset(part)]))


def _of(parts: Iterable[Names], numbers: Mapping[frozenset[str], float]) -> FloatArray:
    return np.array([numbers[frozenset(part)] for part in parts], dtype=np.float64)


def pooled_costs(interactions: Interactions, output: str | None = None) -> tuple[FloatArray, FloatArray]:
    """Costs of the parts and their standard errors in one output, or averaged over the outputs."""
    costs, errors = interactions.costs, interactions.cost_se
    k = interactions._output(output)
    if costs.ndim < 2:
        return costs, errors
    if output is not None:
        return costs[:, k], errors[:, k]
    # The outputs share their draws: their errors are added as if they were fully correlated.
    return costs.mean(axis=1), errors.mean(axis=1)


def pooled_additive(interactions: Interactions, output: str | None = None) -> float:
    """Share of the variance that an additive model loses, in one output or averaged; NaN where not measured."""
    additive = interactions.additive
    if not additive.size:
        return np.nan
    return float(additive.mean() if output is None else np.atleast_1d(additive)[interactions._output(output)])
