"""The cheapest change of a row that brings sums of trees where they should be, with a proof.

Rows are told apart only as far as the splits do: a row is one *cell* for each player, each cell has a cost (what it
costs to bring the player's value there), and every leaf accepts some cells of each player (`Boxes`, made once per
model). `Nearest` looks for the cheapest row of cells whose sums lie in the wanted intervals by branch and bound
(`pellucid.trees.kernels.nearest`), inside balls of growing cost around the row: a ball that was searched in vain is a
lower bound, and what is found in one is the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.trees.arrangement import Arrangement
from pellucid.trees.cells import Boxes

_GROWTH = 1.6
_FIRST = 1e-3  # the first ball, as a share of the dearest row
_STEP = 1e-12  # what is cheaper by less, as a share of the dearest row, is not cheaper
_ROUNDING = 1e-12  # of sums, as a share of the largest leaves added up
_DEPTH = 256  # nodes on a path at first

ACCEPT, REJECT, PRUNE, SPLIT = 1, 2, 3, 4
Judge = Callable[[IntArray, "list[IntArray]", FloatArray], "Verdict"]


def is_compiled() -> bool:
    """Whether the search is compiled (or loaded) already: at first that takes some seconds."""
    from pellucid.trees.kernels import nearest as kernels  # on use: it loads a compiler

    return bool(kernels.search.signatures)


class Verdict(NamedTuple):
    """What is to be done about a row: ACCEPT, REJECT (all rows with the same leaves), PRUNE (the node), or SPLIT: set
    the cells of a player apart, those from ``cell`` on (``rising``) or up to it; -1: beside the row's own cell.
    """

    what: int
    player: int = -1
    cell: int = -1
    rising: bool = True


@dataclass(frozen=True, eq=False)
class Wanted:
    """Where sums should be: ``low <= matrix @ outputs <= high`` line by line, and between ``odds`` the sum over the
    lines of exp(-line), which is (1 - p) / p for differences of softmax scores.
    """

    matrix: FloatArray
    low: FloatArray
    high: FloatArray
    odds: tuple[float, float] = (0.0, np.inf)


@dataclass(eq=False)
class Nearest:
    """A search: call `run`, then read what is known, also after an interruption.

    The arguments: the cells' costs of each player (infinite: not allowed) and the row's own cells; ``largest``: the
    cost of a row is that of its dearest change instead of the sum; at most so many changes; no row may change all
    players of a ``forbidden`` set (sets, players). A ``judge`` is asked about every row that meets the target by its
    leaves: it is told the cells, those that the node leaves to each player, and the sums, and says ACCEPT, REJECT (all
    rows with the same leaves), PRUNE (the node) or SPLIT (a player's cells, to look at them one by one).

    Attributes
    ----------
    cells
        The cheapest row found, one cell per player; None: none yet.
    cost, lower
        Its cost, and a proven lower bound on that of any row that meets the target.
    proven
        Whether all is known: the row is the cheapest, or without one there is none.
    nodes
        Of the search tree.
    """

    boxes: Boxes
    costs: Sequence[FloatArray]
    own: IntArray
    wanted: Wanted
    largest: bool = False
    most_changes: int | None = None
    forbidden: BoolArray | None = None
    judge: Judge | None = None
    nodes_at_once: int = 2000
    lower: float = 0.0
    cells: IntArray | None = None
    cost: float = np.inf
    proven: bool = False
    nodes: int = 0

    def __post_init__(self) -> None:
        self._arrangement = Arrangement.of(self.boxes, self.costs, self.own, largest=self.largest)
        self._sums = self.boxes.sums(self.wanted.matrix)
        size = np.abs(self._sums[0]).max(axis=1, initial=0.0)
        self._rounding = _ROUNDING * float(np.maximum.reduceat(size, self.boxes.tree_first[:-1]).sum())
        none = np.zeros((0, len(self.own)), dtype=np.bool_)
        self._forbidden = none if self.forbidden is None else np.ascontiguousarray(self.forbidden, dtype=np.bool_)

    def run(self, go_on: Callable[[], bool] = lambda: True) -> Nearest:
        """Searches until all is known, or until ``go_on`` (asked every few thousand nodes) says no."""
        dearest = self._arrangement.dearest * (1 + 1e-9) + 1e-300
        radius = max(_FIRST * dearest, 2 * self._arrangement.smallest, self.lower * (1 + 1e-9))
        while not self.proven:
            ball = min(radius, self.cost, dearest)
            last = ball >= min(self.cost, dearest)
            if not self._within(ball, _STEP * dearest, go_on):
                return self
            self.lower = min(max(self.lower, ball), self.cost)
            self.proven = last or self.cost < ball
            radius *= _GROWTH
        if self.cells is None and not np.isfinite(self.cost):
            self.lower = np.inf
        return self

    def _within(self, ball: float, step: float, go_on: Callable[[], bool]) -> bool:
        """Searches one ball; False: it was ended before its end."""
        from pellucid.trees.kernels import nearest as kernels  # on use: it loads a compiler
        from pellucid.trees.kernels.nearest_node import BEST, DEPTH, NODES, STATE

        problem = self._arrangement.within(ball, self._sums)
        if problem is None:  # some tree has no leaf in the ball
            return True
        trees, conditions, players, domain = problem
        wanted = self.wanted
        target = (wanted.low, wanted.high, np.array(wanted.odds), self._rounding)
        most = len(self.own) if self.most_changes is None else self.most_changes
        rules = (self.largest, most, self._forbidden, step)
        stack = _stack(_DEPTH, domain, trees[1])
        scratch = _scratch(domain, trees, players)
        control = np.zeros(9)
        control[BEST] = ball
        while True:
            kernels.search(trees, conditions, players, target, rules, stack, scratch, control, self.nodes_at_once)
            self.nodes += int(control[NODES])
            control[NODES] = 0
            state = int(control[STATE])
            if state == kernels.DONE:
                return True
            if state == kernels.TOO_DEEP:
                stack = _deeper(stack)
            elif state == kernels.CANDIDATE:
                depth = int(control[DEPTH])
                verdict = self._judged(control, scratch, [part[depth] for part in stack[:3]])
                if verdict in (REJECT, SPLIT):
                    kernels.divide(conditions, players, stack, scratch, control)
            if state != kernels.TOO_DEEP and not go_on():
                self.lower = max(self.lower, min(self._open(int(control[DEPTH]), stack), self.cost, ball))
                self.proven = self.cells is not None and self.lower >= self.cost
                return False

    def _judged(self, control: FloatArray, scratch: tuple[AnyArray, ...], node: list[AnyArray]) -> int:
        """Says what is to be done about a row that meets the target by its leaves, and notes it where it is taken."""
        from pellucid.trees.kernels.nearest_node import CELL, LEAST, PLAYER, RISING, VERDICT

        cells = self._arrangement.original(scratch[0])
        verdict = Verdict(ACCEPT)
        if self.judge is not None:
            verdict = self.judge(cells, self._arrangement.left(*node), scratch[6])
        control[VERDICT], control[PLAYER], control[RISING] = verdict.what, verdict.player, verdict.rising
        control[CELL] = self._arrangement.place(verdict.player, verdict.cell)
        if verdict.what == ACCEPT:
            self.cost, self.cells = float(control[LEAST]), cells
        return verdict.what

    def _open(self, depth: int, stack: tuple[AnyArray, ...]) -> float:
        """The least cost in any node that is still to be searched."""
        nodes = [[part[depth] for part in stack[:3]]]
        nodes += [[part[k] for part in stack[3:6]] for k in range(1, depth + 1) if stack[6][k]]
        least = []
        for node in nodes:
            left = zip(self.costs, self._arrangement.left(*node), strict=True)
            parts = [float(cost[cells].min(initial=np.inf)) for cost, cells in left]
            least.append(max(parts) if self.largest else sum(parts))
        return min(least)


def _stack(depth: int, domain: tuple[AnyArray, ...], tree_first: IntArray) -> tuple[AnyArray, ...]:
    """The nodes on the path from the root: what is left to the players in each, and in its sibling, and the leaves in
    reach.
    """
    parts = [np.empty((depth, len(part)), dtype=part.dtype) for part in (*domain, *domain)]
    for place, part in zip(parts[:3], domain, strict=True):
        place[0] = part
    live = np.empty((depth, int(tree_first[-1])), dtype=np.int32)
    live[0] = np.arange(tree_first[-1])
    live_first = np.empty((depth, len(tree_first)), dtype=np.int64)
    live_first[0] = tree_first
    return (*parts, np.zeros(depth, dtype=np.int64), live, live_first)


def _deeper(stack: tuple[AnyArray, ...]) -> tuple[AnyArray, ...]:
    """Room for twice as long a path."""
    return tuple(np.concatenate([part, np.zeros_like(part)]) for part in stack)


def _scratch(
    domain: tuple[AnyArray, ...], trees: tuple[AnyArray, ...], players: tuple[AnyArray, ...]
) -> tuple[AnyArray, ...]:
    """What a node works with: cheapest row, its costs and leaves, extreme leaves, bounds, sums; what the leaves of a
    tree have in common; what is at stake by cell.
    """
    p, t, q, cells = len(domain[0]), len(trees[2]), len(trees[3]), len(players[2])
    whole = [np.zeros(p, np.int64) for _ in range(5)]
    return (
        whole[0], np.zeros(p), np.zeros(t, np.int64), np.zeros((t, q), np.int64), np.zeros((t, q), np.int64),
        np.zeros((2, q)), np.zeros(q), whole[1], whole[2], whole[3], np.zeros(len(domain[2]), np.uint64), whole[4],
        np.zeros(cells), np.zeros(cells), np.zeros(p),
    )  # fmt: skip
