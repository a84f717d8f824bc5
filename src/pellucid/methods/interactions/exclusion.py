"""What it costs to leave interactions out.

Liu and Owen 2006 (superset importance); Hooker 2004 (cost of exclusion, breadth first).

Definition. Take the features as independent, each with its own distribution in the data, and write the model as the sum
of its functional ANOVA components, f = sum_v f_v. The cost of excluding a set u is the share of the variance that is in
the components which contain it, ``cost(u) = sum_{v >= u} var(f_v) / var(f)``. For one feature that is its total Sobol
index.

Estimator. Draw two independent rows x and z. With f_w for the prediction where the features of w come from z and the
others from x, ``cost(u) var(f) = 2^-|u| E [sum_{w <= u} (-1)^|w| f_w]^2``: f_j and f_jk serve all sets. Additive models
get exactly 0. Leaving out all interactions at once loses ``E [f - f_all - sum_j (f - f_j)]^2 / 2 - sum_jk cost(jk)
var(f)``, in which a component of any order from two on counts once.

Triples are asked only where their pairs all cost something (a set never costs more than its parts), pairs only where
both features do. Features that are not asked about stay together as they are in the data.

When it misleads: correlated features are taken apart, and the model is evaluated at rows that do not occur; a loss
under independence is then not a loss on the data.

Cost. Draws (500 to 2,000) times (2 + features + pairs + triples) rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.explanations import Interactions, changed, squeeze_outputs
from pellucid.methods.interactions.estimation.dividends import rounding
from pellucid.methods.interactions.request import Request
from pellucid.runner import Intervention

_DRAWS = (500, 2000)  # at least and at most; fewer only where there are very many features
_FEWEST = 100
_ROWS = 100_000  # model rows to spend, as long as there are enough draws
_MOST_ROWS = 1_000_000  # model rows for pairs; the pairs of the most important features come first
_SMALLEST = 0.001  # pairs that cost less are not looked at in threes
_ROUNDING = 1e-12  # relative to the predictions: differences that are none

Set = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of exclusion of ``parts`` and of all interactions at once, shares of the variance of each output.

    ``pairs`` is the number of pairs the request covers, measured or not.
    """

    parts: tuple[tuple[str, ...], ...]
    share: FloatArray
    se: FloatArray
    additive: FloatArray
    draws: int
    pairs: int


@dataclass(frozen=True, eq=False)
class Swaps(Intervention):
    """Rows x in which some players take their values from z: ``swapped[variant, feature]``.

    ``own`` and ``other`` (rows, features) are the rows of the data that x and z take each feature from.
    """

    swapped: BoolArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.bool_))
    own: IntArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.intp))
    other: IntArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.intp))

    def columns(self, variants: slice, rows: slice) -> dict[int, tuple[Any, IntArray]]:
        return {
            j: (pool, np.where(self.swapped[variants, f, None], self.other[None, rows, f], self.own[None, rows, f]))
            for f, (j, pool) in enumerate(zip(self.features, self.pools, strict=True))
        }


def with_own_draws(found: Interactions, request: Request, *, most: int = _MOST_ROWS) -> Interactions:
    """The same interactions with costs that do not rest on as few draws as there were rows for H."""
    costs = costs_of_exclusion(request, most=most)
    request.run.raise_if_interrupted()
    return changed(
        found,
        parts=costs.parts,
        costs=costs.share,
        cost_se=costs.se,
        additive=costs.additive,
        settings={**found.settings, "draws": costs.draws},
    )


def costs_of_exclusion(request: Request, *, most: int = _MOST_ROWS) -> Costs:
    """Costs of the features, pairs and triples that the request is about; none after an interruption."""
    with request.run.until_interrupted():  # the interactions themselves are known
        request.run.raise_if_interrupted()
        return _measured(request, most)
    return no_costs(request)


def no_costs(request: Request) -> Costs:
    """Nothing was measured."""
    empty = np.empty((0, len(request.predictor.output_names)))
    return Costs((), squeeze_outputs(empty), squeeze_outputs(empty), np.empty(0), 0, 0)


def _measured(request: Request, most: int) -> Costs:
    players, pairs = _asked(request)
    draws = int(np.clip(_ROWS // (2 + len(players) + len(pairs)), *_DRAWS))
    draws = max(_DRAWS[0], min(draws, request.rows or draws))
    draws = max(_FEWEST, min(draws, most // (2 + len(players))))
    design = _Design(request, players, draws)
    alone = design.ask([(), tuple(players), *((i,) for i in players)])
    f, f_all = alone[:2]
    found: dict[Set, FloatArray] = {(): f, **{(i,): alone[2 + k] for k, i in enumerate(players)}}
    scale = _Scale(f, f_all)
    costs: dict[Set, _Cost] = {(i,): scale.cost(_difference(found, (i,)), 2) for i in players}
    able = {i: float(costs[i,].share.mean()) for i in players}
    acting = sorted((p for p in pairs if _bound(able, p) > 0), key=lambda p: -_bound(able, p))
    acting = acting[: max(1, most // draws)]
    found |= dict(zip(acting, design.ask(acting), strict=True))
    seen = set(acting)
    for pair in pairs:
        if pair in seen or _bound(able, pair) <= 0:
            costs[pair] = scale.cost(_difference(found, pair) if pair in seen else np.zeros_like(f), 4)
    complete = len(players) * (len(players) - 1) // 2 == len(pairs) == sum(len(u) == 2 for u in costs)
    additive = _additive(found, f_all, players, acting, scale) if complete else np.empty(0)
    strong = {p: float(costs[p].share.mean()) for p in acting}
    triples = _cliques({p: cost for p, cost in strong.items() if cost >= _SMALLEST})[: len(acting)]
    found |= dict(zip(triples, design.ask(triples), strict=True))
    costs |= {u: scale.cost(_difference(found, u), 8) for u in triples}
    names = request.names
    return Costs(
        tuple(tuple(names[i] for i in u) for u in costs),
        squeeze_outputs(np.stack([cost.share for cost in costs.values()])),
        squeeze_outputs(np.stack([cost.se for cost in costs.values()])),
        additive,
        draws,
        len(pairs),
    )


# -- what is asked -------------------------------------------------------------------------------------


def _asked(request: Request) -> tuple[list[int], list[Set]]:
    """The players and pairs that the request is about: of single features all pairs they are in."""
    everyone = range(len(request.players))
    if request.against == "all":
        pairs = {tuple(sorted((i, k))) for (i,) in request.sets for k in everyone if k != i}
    else:
        pairs = {tuple(sorted(pair)) for players in request.sets for pair in combinations(players, 2)}
    return sorted({i for pair in pairs for i in pair}), sorted(pairs)


def _bound(able: dict[int, float], pair: Set) -> float:
    """A pair costs no more than either of its features."""
    return min(able[i] for i in pair)


def _cliques(pairs: dict[Set, float]) -> list[Set]:
    """Triples of which all three pairs are given, those with the most costly pairs first."""
    neighbours: dict[int, set[int]] = {}
    for i, k in pairs:
        neighbours.setdefault(i, set()).add(k)
    triples = [(i, k, m) for i, k in pairs for m in neighbours[i] & neighbours.get(k, set())]
    return sorted(triples, key=lambda u: (-min(pairs[p] for p in combinations(u, 2)), u))


class _Design:
    """Pairs of rows x and z whose features are drawn one by one, each from a row of the data."""

    def __init__(self, request: Request, players: list[int], draws: int) -> None:
        self._request, data = request, request.data
        share = data.weights / data.weights.sum()

        def rows(key: int, *shape: int) -> IntArray:
            return request.run.generator("network.rows", key).choice(len(data), size=shape, p=share).astype(np.intp)

        # Each player has random numbers of its own: neither the order of the columns nor other players matter.
        drawn = [rows(crc32(request.names[i].encode()), 2, draws) for i in players]
        columns = [request.players[request.names[i]] for i in players]
        self._base = data.take(rows(0, draws))
        self._owner = np.repeat(players, [len(members) for members in columns])
        self._features = tuple(j for members in columns for j in members)
        self._pools = tuple(data.frame.native_column(j) for j in self._features)
        member_of = np.repeat(np.arange(len(players)), [len(members) for members in columns])
        self._own, self._other = (np.stack([pair[side] for pair in drawn], axis=1)[:, member_of] for side in (0, 1))

    def ask(self, sets: Sequence[Set]) -> FloatArray:
        """Predictions ``(sets, draws, outputs)`` where the players of each set come from z."""
        swapped = np.array([np.isin(self._owner, players) for players in sets], dtype=np.bool_)
        intervention = Swaps(
            self._features,
            self._pools,
            np.zeros((len(sets), 1), dtype=np.intp),
            swapped=swapped,
            own=self._own,
            other=self._other,
        )
        return self._request.run.collect(self._request.predictor, self._base, intervention)


# -- what is made of the answers -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Cost:
    share: FloatArray
    se: FloatArray


class _Scale:
    """The variance of the predictions, by which everything is divided."""

    def __init__(self, f: FloatArray, f_all: FloatArray) -> None:
        mean = (f.mean(axis=0) + f_all.mean(axis=0)) / 2
        self._each = (np.square(f - mean) + np.square(f_all - mean)) / 2
        seen = np.vstack([f, f_all])
        self._rounding = np.maximum(rounding(seen), _ROUNDING * np.abs(seen).max(axis=0))
        variance = self._each.mean(axis=0) * 2 * len(f) / (2 * len(f) - 1)
        self._variance = np.where(variance > np.square(self._rounding), variance, np.inf)

    def cost(self, difference: FloatArray, divisor: int) -> _Cost:
        """The share of a mean squared difference (draws, outputs), and its standard error as a ratio of means."""
        return self.ratio(np.square(self.exact(difference)) / divisor)

    def ratio(self, each: FloatArray) -> _Cost:
        share = each.mean(axis=0) / self._variance
        spread = (each - share * self._each) / self._variance
        # No share is above one, but an estimate may be.
        return _Cost(np.minimum(share, 1.0), np.asarray(spread.std(axis=0, ddof=1) / np.sqrt(len(each))))

    def exact(self, difference: FloatArray) -> FloatArray:
        """Without what is only rounding."""
        return np.where(np.abs(difference) <= self._rounding, 0.0, difference)


def _difference(found: dict[Set, FloatArray], u: Set) -> FloatArray:
    """sum_{w <= u} (-1)^|w| f_w."""
    parts = [(-1) ** n * found[w] for n in range(len(u) + 1) for w in combinations(u, n)]
    return np.asarray(sum(parts))


def _additive(
    found: dict[Set, FloatArray], f_all: FloatArray, players: list[int], pairs: list[Set], scale: _Scale
) -> FloatArray:
    """Share lost without any interaction; at least that of the most costly pair, at most the sum over pairs."""
    f = found[()]
    rest = f - f_all - sum((f - found[i,] for i in players), start=np.zeros_like(f))
    squares = [np.square(scale.exact(_difference(found, pair))) / 4 for pair in pairs]
    if not squares:
        return np.zeros(f.shape[1])
    total = np.sum(squares, axis=0)
    lost = scale.ratio(np.square(scale.exact(rest)) / 2 - total).share
    each = [scale.ratio(square).share for square in squares]
    return np.clip(lost, np.max(each, axis=0), np.sum(each, axis=0))
