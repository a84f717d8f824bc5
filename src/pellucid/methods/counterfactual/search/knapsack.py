"""The cheapest choice of one option per player whose gains add up to a target, with a proof.

Every option has a cost and a gain to each of some sums, which should lie in ``low`` to ``high``: a knapsack with
choices. For one sum that has to rise by G, options may be mixed in the relaxed problem: the cheapest way up is along
the lower convex hull of each player's (gain, cost), steepest gain per cost first, so the bound takes a sort. The player
that is mixed in the end is cut in two at that place (branch and bound, the node with the least bound first: its bound
is one for all). Of several sums each gives a bound, and the largest counts. Of one sum whose answer has nothing
against it, all is known without branches (`one_sum`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.counterfactual.search.one_sum import Front, cheapest, least_largest
from pellucid.trees.nearest import ACCEPT, PRUNE, Judge

_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Options:
    """What one player may become: costs ``(options,)``, gains ``(options, sums)`` beside its own, which is ``own``."""

    cost: FloatArray
    gain: FloatArray
    own: int


@dataclass(frozen=True, eq=False)
class Mixture:
    """The answer of the relaxed problem: ``row``, in which one ``player`` is a ``share`` of the way between two
    options; it costs ``bound``, and nothing costs less.
    """

    bound: float
    row: IntArray
    player: int
    options: tuple[int, int]
    share: float


@dataclass(eq=False)
class _Node:
    """Options left to each player, and the hulls (per sum) that were worked out for them."""

    left: list[BoolArray]
    hulls: list[dict[tuple[int, bool], FloatArray]]
    bound: float = 0.0
    mixed: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    cut: tuple[int, float, int] | None = None  # player, gain, sum
    mixture: Mixture | None = None

    def child(self, player: int, keep: BoolArray) -> _Node | None:
        """The node in which a player has some of its options."""
        kept = self.left[player] & keep
        if not kept.any():
            return None
        left, hulls = list(self.left), list(self.hulls)
        left[player], hulls[player] = kept, {}
        return _Node(left, hulls)


@dataclass(eq=False)
class Knapsack:
    """A search like `pellucid.trees.nearest.Nearest`, over options instead of cells.

    It ends where the best is within ``tolerance`` of the bound; ``mixture`` is the answer of the relaxed problem.
    """

    players: Sequence[Options]
    base: FloatArray  # the sums of the row itself
    low: FloatArray
    high: FloatArray
    odds: tuple[float, float] = (0.0, np.inf)
    most_changes: int | None = None
    forbidden: BoolArray | None = None
    judge: Judge | None = None
    lower: float = 0.0
    cells: IntArray | None = None
    cost: float = np.inf
    proven: bool = False
    nodes: int = 0
    tolerance: float = _SAME
    mixture: Mixture | None = None
    largest: bool = False  # the cost is that of the dearest option, not their sum; for one sum

    def run(self, go_on: Callable[[], bool] = lambda: True) -> Knapsack:
        """Searches until all is known, or until ``go_on`` says no."""
        root = _Node([np.isfinite(options.cost) for options in self.players], [{} for _ in self.players])
        waiting: list[tuple[float, int, _Node]] = []
        if self.largest:
            self._added_up(root)
            return self
        self._look(root, waiting)
        self.mixture = root.mixture
        if len(self.base) == 1 and self.tolerance <= _SAME and self._added_up(root):
            return self
        while waiting and waiting[0][0] < self.cost * (1 - self.tolerance):
            if not go_on():
                self.lower = max(self.lower, min(waiting[0][0], self.cost))
                return self
            _, _, node = heapq.heappop(waiting)
            for child in self._children(node):
                if child is not None:
                    self._look(child, waiting)
        self.proven = True
        self.lower = self.cost
        return self

    # -- one sum ---------------------------------------------------------------------------------

    def _added_up(self, root: _Node) -> bool:
        """The answer for a sum that has to go one way, where the judge has nothing against it; whether all is known.

        What leaves alone a feature of each earlier answer leaves alone one choice of such features: all are tried.
        """
        rising = self.base[0] < self.low[0]
        need = float(self.low[0] - self.base[0] if rising else self.base[0] - self.high[0])
        sign = 1.0 if rising else -1.0
        ways = _kept_alone(np.zeros((0, len(self.players)), np.bool_) if self.forbidden is None else self.forbidden)
        if need <= 0 or ways is None:
            return False
        whole = [Front.of(p.cost, sign * p.gain[:, 0], p.own) for p in self.players]
        best: tuple[float, IntArray | None] = (np.inf, None)
        for alone in ways:
            fronts = [front.only_own() if i in alone else front for i, front in enumerate(whole)]
            if self.largest:  # of all that change nothing by more than has to be, what changes least in all
                dearest = least_largest(fronts, need)
                fronts = [front.up_to(dearest) for front in fronts]
            row = cheapest(fronts, need, self.most_changes)
            price = np.inf if row is None else self._price(row)
            best = min(best, (price, row), key=lambda pair: pair[0])
        cost, cells = self.cost, self.cells
        self.cost = np.inf
        if best[1] is not None and best[0] < cost * (1 - _SAME) and self._tried(best[1], root) != ACCEPT:
            self.cost, self.lower = cost, max(self.lower, best[0] if self.largest else 0.0)
            return False
        if self.cost > cost:
            self.cost, self.cells = cost, cells
        self.proven, self.lower = True, self.cost
        return True

    # -- one node --------------------------------------------------------------------------------

    def _look(self, node: _Node, waiting: list[tuple[float, int, _Node]]) -> None:
        """Bounds a node, takes its rows where they are answers, and keeps it where a better one may be in it."""
        self.nodes += 1
        if not self._ruled(node) or not self._bounded(node) or node.bound >= self.cost * (1 - _SAME):
            return
        verdict = self._tried(node.mixed, node)
        done = node.cut is None and verdict == ACCEPT
        if not done and verdict != PRUNE:
            heapq.heappush(waiting, (node.bound, self.nodes, node))

    def _ruled(self, node: _Node) -> bool:
        """Keeps players at their own options where rules leave no other; False: the rules cannot be kept."""
        if self.most_changes is None and self.forbidden is None:
            return True
        forced = np.array([not left[p.own] for left, p in zip(node.left, self.players, strict=True)])
        most = len(forced) if self.most_changes is None else self.most_changes
        if forced.sum() > most:
            return False
        stays = ~forced & (forced.sum() == most)
        for line in np.zeros((0, len(forced)), np.bool_) if self.forbidden is None else self.forbidden:
            free = np.flatnonzero(line & ~forced)
            if not len(free):
                return False
            if len(free) == 1:
                stays[free] = True
        for i in np.flatnonzero(stays).tolist():
            own = np.arange(len(node.left[i])) == self.players[i].own
            if (node.left[i] & ~own).any():
                node.left[i], node.hulls[i] = own, {}
        return True

    def _bounded(self, node: _Node) -> bool:
        """The largest of the bounds of all sums, with the row that it mixes; False: some sum is out of reach."""
        cheapest = self._cheapest(node)
        costs = [p.cost[c] for p, c in zip(self.players, cheapest, strict=True)]
        sums = self._sums(cheapest)
        node.bound, node.mixed, node.cut = float(sum(costs)), cheapest, None
        for q in range(len(sums)):
            for rising in (True, False):
                need = self.low[q] - sums[q] if rising else sums[q] - self.high[q]
                if need > 0 and not self._climbed(node, q, rising, float(need), cheapest):
                    return False
        return True

    def _climbed(self, node: _Node, q: int, rising: bool, need: float, start: IntArray) -> bool:
        """The bound of one sum that has to rise (or fall) by ``need`` from the cheapest row."""
        steps = []
        for i in range(len(self.players)):
            if (q, rising) not in node.hulls[i]:
                node.hulls[i][q, rising] = _hull(self.players, i, node.left[i], q, rising, int(start[i]))
            steps.append(node.hulls[i][q, rising])
        every = np.concatenate(steps)  # cost, gain, player, option
        if every[:, 1].sum() < need * (1 - _SAME):
            return False
        every = every[np.argsort(every[:, 0] / every[:, 1], kind="stable")]
        reached = np.cumsum(every[:, 1])
        last = int(np.searchsorted(reached, need * (1 - _SAME)))
        share = (need - (reached[last] - every[last, 1])) / every[last, 1]
        bound = float(sum(p.cost[c] for p, c in zip(self.players, start, strict=True)))
        bound += float(every[:last, 0].sum() + share * every[last, 0])
        if bound >= node.bound:
            mixed = start.copy()
            mixed[every[: last + 1, 2].astype(int)] = every[: last + 1, 3].astype(int)  # rounded up
            i, option = int(every[last, 2]), int(every[last, 3])
            whole = share >= 1 - 1e-9
            before = every[:last][every[:last, 2] == i]
            options = (int(before[-1, 3]) if len(before) else int(start[i]), option)
            node.bound, node.mixed, node.mixture = bound, mixed, Mixture(bound, mixed, i, options, float(share))
            node.cut = None if whole else (i, float(self.players[i].gain[option, q]), q if rising else -1 - q)
        return True

    def _cheapest(self, node: _Node) -> IntArray:
        pairs = zip(self.players, node.left, strict=True)
        return np.array([np.where(left, p.cost, np.inf).argmin() for p, left in pairs], dtype=np.int64)

    def _price(self, row: IntArray) -> float:
        costs = [float(p.cost[c]) for p, c in zip(self.players, row, strict=True)]
        return max(costs) if self.largest else sum(costs)

    def _sums(self, row: IntArray) -> FloatArray:
        return self.base + np.sum([p.gain[c] for p, c in zip(self.players, row, strict=True)], axis=0)

    def _tried(self, row: IntArray, node: _Node) -> int:
        """Whether a row is an answer, which is then noted if it is the best: ACCEPT; else what the judge says."""
        sums = self._sums(row)
        with np.errstate(over="ignore"):
            odds = float(np.exp(-sums).sum())
        if not ((sums >= self.low) & (sums <= self.high)).all() or not self.odds[0] <= odds <= self.odds[1]:
            return 0
        changed = np.array([c != p.own for p, c in zip(self.players, row, strict=True)])
        if self.most_changes is not None and changed.sum() > self.most_changes:
            return 0
        if self.forbidden is not None and (changed | ~self.forbidden).all(axis=1).any():
            return 0
        cost = self._price(row)
        if self.judge is not None:
            verdict = self.judge(row, [np.flatnonzero(left) for left in node.left], sums).what
            if verdict != ACCEPT:
                return verdict if verdict == PRUNE else 0
        if cost < self.cost:
            self.cost, self.cells = cost, row
        return ACCEPT

    def _children(self, node: _Node) -> list[_Node | None]:
        """Two nodes: without and with what the bound wants of the player it mixes; else a player's option set apart."""
        if node.cut is not None:
            i, gain, line = node.cut
            beyond = self.players[i].gain[:, line] >= gain if line >= 0 else self.players[i].gain[:, -1 - line] <= gain
            if (node.left[i] & beyond).any() and (node.left[i] & ~beyond).any():
                return [node.child(i, ~beyond), node.child(i, beyond)]
        open_ = [i for i, left in enumerate(node.left) if left.sum() > 1]
        if not open_:
            return []
        changed = [i for i in open_ if node.mixed[i] != self.players[i].own]
        i = max(changed or open_, key=lambda k: self.players[k].cost[node.mixed[k]])
        only = np.arange(len(node.left[i])) == node.mixed[i]
        return [node.child(i, only), node.child(i, ~only)]


def _kept_alone(forbidden: BoolArray, most: int = 200) -> list[frozenset[int]] | None:
    """The sets of players that hold one of each line, none a part of another; None: they are too many."""
    ways = [frozenset[int]()]
    for line in forbidden:
        ways = [
            way if way & set(np.flatnonzero(line)) else way | {int(i)} for way in ways for i in np.flatnonzero(line)
        ]
        ways = [way for way in dict.fromkeys(ways) if not any(other < way for other in ways)]
        if len(ways) > most:
            return None
    return ways


def _hull(players: Sequence[Options], i: int, left: BoolArray, q: int, rising: bool, start: int) -> FloatArray:
    """The steps up the lower convex hull of (gain, cost) from the cheapest option: cost, gain, player, option
    reached.
    """
    options = players[i]
    sign = 1.0 if rising else -1.0
    places = np.flatnonzero(left)
    gain, cost = sign * (options.gain[places, q] - options.gain[start, q]), options.cost[places] - options.cost[start]
    some = gain > 0
    places, gain, cost = places[some], gain[some], cost[some]
    order = np.lexsort((cost, -gain))  # from the largest gain down: what is dearer than a larger gain is no use
    places, gain, cost = places[order], gain[order], cost[order]
    useful = cost < np.concatenate([[np.inf], np.minimum.accumulate(cost)[:-1]])
    points = np.stack([cost[useful], gain[useful], places[useful]], axis=1)[::-1]
    steps = np.vstack([[0.0, 0.0, float(start)], points])
    while len(steps) > 2:  # what is no cheaper than a mixture of its neighbours is no corner of the hull
        step = np.diff(steps[:, :2], axis=0)
        first, second = step[:-1, 0] * step[1:, 1], step[1:, 0] * step[:-1, 1]
        above = first >= second - _SAME * np.abs(second)
        if not above.any():
            break
        steps = steps[~np.concatenate([[False], above, [False]])]
    return np.column_stack([np.diff(steps[:, :2], axis=0), np.full(len(steps) - 1, float(i)), steps[1:, 2]])
