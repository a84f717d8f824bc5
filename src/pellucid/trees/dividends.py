"""Harsanyi dividends of the marginal game of trees, exactly, against every background row.

With PD_T(x) the mean over the background b of f(x on T, b elsewhere), the dividend of a set of players S is

    d_S(x) = sum over T within S of (-1)^(|S| - |T|) PD_T(x),

what S adds that no part of S does: d_j is the centred partial dependence of j, d_jk its interaction with k. A leaf
whose path does not ask all players of S adds nothing to d_S. Another leaf l adds

    value_l * sum over T within S of (-1)^(|S| - |T|) g_l(T) [x satisfies l's conditions on T],
    g_l(T)  = share of the background that satisfies l's conditions on its players outside T:

boxes in the space of the players of S, which are constant between thresholds. The background is walked once for all
sets (see `leaf_masses`). The boxes of all leaves are written as differences at their corners, summed
up once, and looked up for each row, so that the number of rows hardly matters beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.runner.limits import Limits
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.leaf_masses import Leaves, find_leaves, masses
from pellucid.trees.plain.choice import can_compile
from pellucid.trees.plain.levels import batches, column_of, inside, tree_sizes
from pellucid.trees.regions import Atoms, Runs, all_runs, find_atoms
from pellucid.trees.rows import Alone, Watch, shares_of

_WALK = 3e-8  # seconds per leaf, slot and row


def dividends(
    ensemble: TreeEnsemble,
    X: FloatArray,
    sets: Sequence[Sequence[int]],
    *,
    background: FloatArray,
    weights: FloatArray | None = None,
    players: IntArray | None = None,
    watch: Watch | None = None,
) -> FloatArray:
    """``(rows, sets, outputs)``: the dividends of sets of one, two or three players at the rows of X.

    ``players`` gives the player of each column (by default every column is one).
    """
    watch = Alone() if watch is None else watch
    players = np.arange(ensemble.n_features) if players is None else np.asarray(players, dtype=np.int64)
    found = np.zeros((len(sets), ensemble.n_outputs, len(X)))
    wanted = [np.sort(np.asarray(members, dtype=np.int64)) for members in sets]
    order = max((len(members) for members in wanted), default=0)
    share = shares_of(len(background), weights)
    atoms = find_atoms(ensemble, players, X)
    for roots, output in _some_trees(ensemble, players, order, watch.limits):
        leaves = find_leaves(ensemble, roots, players)
        mass = masses(ensemble, roots, leaves, background, share, order, watch)
        runs = all_runs(leaves.layout, atoms)
        for size in range(1, order + 1):
            entries = _Entries.of(ensemble, leaves, mass, size, output)
            places = [s for s, members in enumerate(wanted) if len(members) == size and members[-1] < len(atoms)]
            for some in _together(places, [_cells(wanted[s], atoms) for s in places], watch.limits):
                _add(entries, [wanted[s] for s in some], atoms, runs, [found[s] for s in some], watch.limits)
    return np.ascontiguousarray(found.transpose(2, 0, 1))


def worth_without(
    ensemble: TreeEnsemble,
    X: FloatArray,
    absent: Sequence[int],
    *,
    background: FloatArray,
    weights: FloatArray | None = None,
    players: IntArray | None = None,
    watch: Watch | None = None,
) -> FloatArray:
    """``(rows, absent, outputs)``: the partial dependence on all players but one, at the rows of X."""
    watch = Alone() if watch is None else watch
    players = np.arange(ensemble.n_features) if players is None else np.asarray(players, dtype=np.int64)
    share = shares_of(len(background), weights)
    leaf_count = (tree_sizes(ensemble)[0] + 1) // 2
    if _WALK * 4 * leaf_count.sum() * (len(X) + len(background)) > watch.limits.patience and can_compile():
        from pellucid.trees.partial_dependence import partial_dependence_without  # on use: it loads a compiler

        parts = [
            partial_dependence_without(ensemble, np.flatnonzero(players == j), X, background, share, watch=watch)
            for j in absent
        ]
        return np.stack(parts, axis=1)
    found = np.tile(ensemble.base, (len(X), len(absent), 1))
    for roots, output in _some_trees(ensemble, players, 1, watch.limits):
        leaves = find_leaves(ensemble, roots, players)
        step = max(1, watch.limits.compared // max(leaves.layout.size, 1))
        open_to = _open_to(ensemble, leaves, background, share, step)
        for start in range(0, len(X), step):
            some = slice(start, start + step)
            _add_without(ensemble, leaves, output, X[some], absent, open_to, found[some])
    return found


def _open_to(
    ensemble: TreeEnsemble, leaves: Leaves, background: FloatArray, share: FloatArray, step: int
) -> FloatArray:
    """The share of the background that satisfies what each place of the layout asks."""
    open_to = np.zeros(leaves.layout.size + 1)
    for start in range(0, len(background), step):
        some = slice(start, start + step)
        open_to += inside(ensemble, leaves.layout, background[some]) @ share[some]
    return open_to


def _add_without(
    ensemble: TreeEnsemble,
    leaves: Leaves,
    output: IntArray,
    X: FloatArray,
    absent: Sequence[int],
    open_to: FloatArray,
    found: FloatArray,
) -> None:
    """A leaf counts for the rows that satisfy all other players' conditions, by the share that satisfies this one's."""
    value = ensemble.leaf_values(leaves.node, output[leaves.tree])
    asked = leaves.layout.asked[leaves.turn]
    leaf = np.repeat(np.arange(len(leaves.node)), leaves.players)
    missed = ~inside(ensemble, leaves.layout, X)[leaves.turn]
    wrong = np.zeros((len(leaves.node), missed.shape[1]), dtype=np.int64)
    np.add.at(wrong, leaf, missed)
    reached = (wrong == 0).astype(np.float64)
    whole = reached.T @ value
    for a, player in enumerate(absent):
        mine = np.flatnonzero(asked == player)
        its = leaf[mine]
        alone = (wrong[its] == missed[mine]).astype(np.float64) * open_to[leaves.turn[mine]][:, None]
        found[:, a] += whole + (alone - reached[its]).T @ value[its]


def _some_trees(
    ensemble: TreeEnsemble, players: IntArray, order: int, limits: Limits
) -> Iterator[tuple[IntArray, IntArray]]:
    """Trees with about as many coalitions as are held at once: their roots and outputs."""
    if len(ensemble.roots) == 0:
        return
    nodes, depth = tree_sizes(ensemble)
    most = np.minimum(depth, len(np.unique(players)))
    for trees in batches((nodes + 1) // 2 * np.maximum(most, 1) ** min(order, 2), limits.coalitions):
        yield ensemble.roots[trees], ensemble.output[trees]


@dataclass(frozen=True, eq=False)
class _Entries:
    """Coalitions of one size in leaves, by ascending number of the coalition.

    ``turns`` are those of the members, by ascending player, and ``shares[T]`` what g_l(T) is for some of the members.
    """

    number: IntArray
    turns: IntArray
    value: FloatArray
    shares: dict[tuple[int, ...], FloatArray]

    @classmethod
    def of(
        cls, ensemble: TreeEnsemble, leaves: Leaves, mass: list[FloatArray], size: int, output: IntArray
    ) -> _Entries:
        leaf, slots = leaves.coalitions(size)
        turns = leaves.turn[leaves.first[leaf][:, None] + slots]
        players = leaves.layout.asked[turns]
        along = np.argsort(players, axis=1)
        slots, turns, players = (np.take_along_axis(part, along, axis=1) for part in (slots, turns, players))
        number = column_of(list(players.T))
        order = np.argsort(number, kind="stable")
        leaf, slots = leaf[order], slots[order]
        exactly: dict[tuple[int, ...], FloatArray] = {(): mass[0][leaf]}
        for k in range(1, size + 1):
            for part in combinations(range(size), k):
                place = leaves.starts(k)[leaf] + column_of([slots[:, i] for i in part])
                exactly[part] = mass[k][place]
        shares = {
            part: sum((exactly[less] for less in exactly if set(less) <= set(part)), np.zeros(len(leaf)))
            for part in exactly
        }
        value = ensemble.leaf_values(leaves.node, output[leaves.tree])[leaf]
        return cls(number[order], turns[order], value, shares)

    def of_sets(self, sets: list[IntArray]) -> tuple[_Entries, IntArray]:
        """The entries of some sets, set by set, and which of the sets each belongs to."""
        numbers = np.array([column_of([members[i : i + 1] for i in range(len(members))])[0] for members in sets])
        first, end = np.searchsorted(self.number, numbers), np.searchsorted(self.number, numbers + 1)
        rows = np.concatenate([np.arange(*span) for span in zip(first, end, strict=True)])
        shares = {part: share[rows] for part, share in self.shares.items()}
        chosen = _Entries(self.number[rows], self.turns[rows], self.value[rows], shares)
        return chosen, np.repeat(np.arange(len(sets)), end - first)

    def terms(self, runs: Runs) -> Iterator[_Term]:
        """The dividends as sums of boxes."""
        size = self.turns.shape[1]
        for part, share in self.shares.items():
            weight = ((-1.0) ** (size - len(part)) * share)[:, None] * self.value
            owner, boxes = _boxes(self.turns[:, part], runs)
            yield _Term(part, owner, boxes, weight[owner])


@dataclass(frozen=True, eq=False)
class _Term:
    """Boxes along some axes: the entry of each, where it starts and ends, and its weights ``(boxes, outputs)``."""

    axes: tuple[int, ...]
    entry: IntArray
    boxes: list[tuple[IntArray, IntArray]]
    weight: FloatArray


def _cells(members: IntArray, atoms: list[Atoms]) -> int:
    return prod(atoms[i].count + 1 for i in members)


def _together(places: list[int], cells: list[int], limits: Limits) -> Iterator[list[int]]:
    """Sets whose grids are summed up together; those without a grid one by one."""
    group: list[int] = []
    size = 0
    for place, own in zip(places, cells, strict=True):
        if group and size + own > limits.grid_cells:
            yield group
            group, size = [], 0
        group.append(place)
        size += own
    if group:
        yield group


def _add(
    entries: _Entries, sets: list[IntArray], atoms: list[Atoms], runs: Runs, out: list[FloatArray], limits: Limits
) -> None:
    """Adds the dividends of some sets to their places ``(outputs, rows)``."""
    chosen, which = entries.of_sets(sets)
    if len(which) == 0:
        return
    terms = list(chosen.terms(runs))
    if sum(_cells(members, atoms) for members in sets) <= limits.grid_cells:
        _by_grid(terms, which, [[atoms[i] for i in members] for members in sets], out)
        return
    own = [atoms[i] for i in sets[0]]  # a single set
    for term in terms:
        _add_one_by_one(term, [own[axis] for axis in term.axes], out[0], limits)


def _add_one_by_one(term: _Term, atoms: list[Atoms], out: FloatArray, limits: Limits) -> None:
    """Where a grid for all axes has too many cells."""
    if prod(own.count + 1 for own in atoms) <= limits.grid_cells:
        alone = _Term(tuple(range(len(atoms))), term.entry, term.boxes, term.weight)
        _by_grid([alone], np.zeros(int(term.entry.max(initial=0)) + 1, dtype=np.intp), [atoms], [out])
    elif len(atoms) == 2 and can_compile():
        _by_sweep(term.boxes, term.weight, atoms, out)
    else:
        _by_comparison(term, atoms, out, limits)


def _boxes(turns: IntArray, runs: Runs) -> tuple[IntArray, list[tuple[IntArray, IntArray]]]:
    """All products of runs: the entry each belongs to, and along every axis where it starts and ends."""
    owner = np.arange(len(turns))
    numbers: list[IntArray] = []
    for axis in range(turns.shape[1]):
        again, number = runs.take(turns[owner, axis])
        numbers = [*(earlier[again] for earlier in numbers), number]
        owner = owner[again]
    return owner, [(runs.start[number], runs.end[number]) for number in numbers]


def _by_grid(terms: list[_Term], which: IntArray, atoms: list[list[Atoms]], out: list[FloatArray]) -> None:
    """Differences at the corners of the boxes, summed up along every axis, looked up for each row; one grid per set."""
    shapes = [tuple(own.count + 1 for own in axes) for axes in atoms]
    origin = np.cumsum([0, *(prod(shape) for shape in shapes)])
    strides = np.array([[prod(shape[axis + 1 :]) for axis in range(len(shape))] for shape in shapes])
    cells, weights = [], []
    for term in terms:
        mine = which[term.entry]
        steps = [strides[mine, axis] for axis in term.axes]
        for ends in product((0, 1), repeat=len(term.axes)):
            cell = origin[mine]
            for box, end, step in zip(term.boxes, ends, steps, strict=True):
                cell = cell + box[end] * step
            cells.append(cell)
            weights.append(term.weight if sum(ends) % 2 == 0 else -term.weight)
    cell, weight = np.concatenate(cells), np.concatenate(weights)
    for output in np.flatnonzero(weight.any(axis=0)):
        flat = np.bincount(cell, weights=weight[:, output], minlength=int(origin[-1]))
        for s, (shape, axes) in enumerate(zip(shapes, atoms, strict=True)):
            grid = flat[origin[s] : origin[s + 1]].reshape(shape)
            for axis in range(len(shape)):
                np.cumsum(grid, axis=axis, out=grid)
            out[s][output] += grid[tuple(own.number for own in axes)]


def _by_sweep(boxes: list[tuple[IntArray, IntArray]], weight: FloatArray, atoms: list[Atoms], out: FloatArray) -> None:
    from pellucid.trees.kernels.dividends import add_rectangles  # on use: it loads a compiler

    (left, right), (low, high) = boxes
    edge = np.concatenate([left, right])
    order = np.argsort(edge, kind="stable")
    first, second = atoms
    for output in np.flatnonzero(weight.any(axis=0)):
        gain = np.concatenate([weight[:, output], -weight[:, output]])
        add_rectangles(
            edge[order],
            np.tile(low, 2)[order],
            np.tile(high, 2)[order],
            gain[order],
            first.order,
            first.number,
            second.number,
            second.count + 1,
            out[output],
        )


def _by_comparison(term: _Term, atoms: list[Atoms], out: FloatArray, limits: Limits) -> None:
    step = max(1, limits.compared // len(term.weight))
    for start in range(0, out.shape[1], step):
        rows = slice(start, start + step)
        held = np.ones((len(term.weight), len(out[0, rows])), dtype=np.bool_)
        for (low, high), own in zip(term.boxes, atoms, strict=True):
            number = own.number[rows]
            held &= (low[:, None] <= number) & (number < high[:, None])
        out[:, rows] += term.weight.T @ held
