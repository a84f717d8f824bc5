"""The walk behind the marginal game of deep trees: one explained row, all background rows at once.

At a leaf call *own* the players whose conditions the explained row x meets and a background row b does not, and
*other* those that b meets and x does not. If some player is met by neither, the pair (x, b) adds nothing;
otherwise it adds the leaf's value to every coalition that has all of own and none of other. What own and other
players get of that depends on how many there are of each: the coefficients ``[kind][others][owns]``.

For a given x the other players depend on the node only. So the walk takes along, from node to node, the list of
background rows that still count; on a split on a player f,

    f is other:    b decides: the list falls into two, one for each child
    else           let N be the rows that go the way x does not go and for which f is not own yet:
                   the child that x does not go to has the rows N, and f is other below it;
                   the child that x goes to has the whole list, and f is own for the rows N below it.

Every row of a list costs one comparison per node, however many players and background rows there are. At a leaf,
its value goes to one sum per background row (and, for others, to one sum for all of them). What a player gets is
by how much the sums have grown between entering and leaving the child below which it is own, or other.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inlined, kernel

# No function below takes a row of a matrix as an array of its own: numba would count references to it, which
# costs more than the work on a short list. All become part of the walk, in which no call is left.
# `path` is None where single players are asked for: what only pairs need is then left out before compiling.

# A frame: what is left to do at a split.
_NODE, _FIRST, _END, _MIDDLE, _TOP, _PLAYER, _TODO = range(7)
_VISIT, _OTHER, _OWN = 0, 1, 2  # visit a node; leave the child where the player is other; ... is own


@inlined
def _goes_left(x, t, gap, words, start, other, sets):
    """Whether a value goes left, given the node's threshold, missing_left, set_words, set_start and other_left."""
    if np.isnan(x):
        goes = gap
    elif words == 0:
        goes = x <= t
    elif x <= -1 or x >= 64 * words:
        goes = other
    else:
        code = np.uint64(x)
        word = sets[np.uint64(start) + (code >> np.uint64(6))]
        goes = (word >> (code & np.uint64(63))) & np.uint64(1) == 1
    return goes


@inlined
def _part(rows, first, end, background, f, t):
    """Puts the rows that go left before the others; where those begin."""
    middle = first
    for k in range(first, end):
        b = rows[k]
        rows[k] = rows[middle]
        rows[middle] = b
        middle += background[f, b] <= t
    return middle


@inlined
def _part_any(rows, first, end, background, f, t, gap, words, start, other, sets):
    """The same for splits on sets and columns with missing values."""
    middle = first
    for k in range(first, end):
        b = rows[k]
        rows[k] = rows[middle]
        rows[middle] = b
        middle += _goes_left(background[f, b], t, gap, words, start, other, sets)
    return middle


@inlined
def _leaving(rows, first, end, top, background, f, goes, t):
    """Writes the rows that go the other way than x from `top` on; their end."""
    for k in range(first, end):
        b = rows[k]
        rows[top] = b
        top += (background[f, b] <= t) != goes
    return top


@inlined
def _leaving_any(rows, first, end, top, background, f, goes, t, gap, words, start, other, sets):
    """The same for splits on sets and columns with missing values."""
    for k in range(first, end):
        b = rows[k]
        rows[top] = b
        top += _goes_left(background[f, b], t, gap, words, start, other, sets) != goes
    return top


@inlined
def _not_own(rows, first, end, own, player):
    """Keeps the rows for which the player is not own; their end."""
    kept = first
    for k in range(first, end):
        b = rows[k]
        rows[kept] = b
        kept += own[player, b] == 0
    return kept


@inlined
def _reach(value, node, rows, first, end, weights, owns, coefficients, others, sums, total, path):
    """A leaf: adds its value to the sums of the listed rows."""
    last = coefficients.shape[0] - 1
    for o in range(value.shape[1]):
        v, s = value[node, o], 0.0
        for k in range(first, end):
            b = rows[k]
            a, w = owns[b], v * weights[b]
            sums[0, o, b] += w * coefficients[0, others, a]
            s += w * coefficients[last, others, a]
            if path is not None:
                sums[1, o, b] += w * coefficients[1, others, a]
        total[o] += s


@inlined
def _as_other(phi, r, out, sign, player, rows, first, end, sums, total, path, n_other, n_own, own):
    """Minus what the sums say before the walk below a node where the player is other, plus what they say after."""
    for o in range(sums.shape[1]):
        if path is None:
            phi[r, player, 0, out + o] += sign * total[o]
        else:
            for k in range(n_other):
                phi[r, player, path[0, k], out + o] += sign * total[o]
            for k in range(n_own):
                j, s = path[1, k], 0.0
                for i in range(first, end):
                    b = rows[i]
                    s += sums[1, o, b] * own[j, b]
                phi[r, player, j, out + o] += sign * s


@inlined
def _as_own(phi, r, out, sign, player, rows, first, end, sums, path, n_other, n_own, own, owns):
    """The same where the player is own for the listed rows: it becomes so (-1), or ceases to be (1)."""
    mark, last = sign < 0, sums.shape[0] - 1
    for o in range(sums.shape[1]):
        s = 0.0
        for k in range(first, end):
            b = rows[k]
            s += sums[last, o, b]
            if o == 0:
                own[player, b] = mark
                owns[b] -= np.int32(sign)
        if path is None:
            phi[r, player, 0, out + o] += sign * s
        else:
            for k in range(n_other):
                phi[r, player, path[0, k], out + o] += sign * s
            for k in range(n_own):
                j, s = path[1, k], 0.0
                if j == player:
                    continue
                for i in range(first, end):
                    b = rows[i]
                    s += sums[0, o, b] * own[j, b]
                phi[r, player, j, out + o] += sign * s


def deep_room(
    n: int, players: int, width: int, kinds: int, depth: int
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.generic]], ...]:
    """Memory of a walk with n background rows."""
    rows = np.empty((depth + 2) * n, np.uint32)  # lists, one behind the other
    rows[:n] = np.arange(n)
    return (
        rows,
        np.zeros((players, n), np.uint8),  # for which rows a player is own
        np.zeros(n, np.int32),  # own players per row
        np.zeros(players, np.int64),  # rows for which a player is own
        np.zeros(players, np.bool_),  # which players are other
        np.zeros((kinds - 1, width, n)),
        np.zeros(width),
        np.empty((depth + 1, 7), np.int64),
    )


def deep_path(order: int, depth: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]] | None:
    """For pairs, room for the players that are other and those that are own for some row."""
    return np.empty((2, depth + 1), np.int64) if order == 2 else None


@kernel
def deep_marginal(
    columns, sets, value, roots, output, players, X, background, plain, weights, coefficients, room, path, phi
):
    """Adds the values of all trees to `phi`.

    Of single players it is ``(rows, players, 1, outputs)``; of pairs ``(rows, players, players, outputs)``, a
    pair being added at [later, earlier] or [earlier, later] on the path. The kinds of coefficients are own and
    other; or both own, one of each, both other. The last kind is the same for all background rows.

    `columns` are those of `Nodes` that say where a row goes. `X` has rows first, `background` has columns first.
    `plain` nodes compare numbers of which none is missing in the background. `room` is made by
    `deep_room`, `path` by `deep_path`.
    """
    feature, threshold, left, right, missing_left, set_words, set_start, other_left = columns
    rows, own, owns, holders, is_other, sums, total, stack = room
    n = len(weights)
    for tree in range(len(roots)):
        out = output[tree]
        for r in range(len(X)):
            sums[:] = 0.0
            total[:] = 0.0
            # typed: a bare 0 is a type of its own, for which what takes it would be compiled once more
            node, first, end, top = roots[tree], np.int64(0), np.int64(n), np.int64(n)
            n_other, n_own, frames = np.int64(0), np.int64(0), 0
            while node >= 0:
                f = feature[node]
                if f >= 0:
                    player, t, x = players[f], threshold[node], X[r, f]
                    gap, words, start, other = False, np.int64(0), np.int64(0), False
                    simple = plain[node] and not np.isnan(x)
                    if not simple:
                        gap, words = missing_left[node], set_words[node]
                        start, other = set_start[node], other_left[node]
                    if is_other[player]:
                        if simple:
                            middle = _part(rows, first, end, background, f, t)
                        else:
                            middle = _part_any(rows, first, end, background, f, t, gap, words, start, other, sets)
                        if middle == first:
                            node = right[node]
                            continue
                        if middle < end:
                            stack[frames, _NODE] = right[node]
                            stack[frames, _FIRST] = middle
                            stack[frames, _END] = end
                            stack[frames, _TOP] = top
                            stack[frames, _TODO] = _VISIT
                            frames += 1
                            end = middle
                        node = left[node]
                        continue
                    goes = x <= t if simple else _goes_left(x, t, gap, words, start, other, sets)
                    along, aside = (left[node], right[node]) if goes else (right[node], left[node])
                    if simple:
                        last = _leaving(rows, first, end, top, background, f, goes, t)
                    else:
                        last = _leaving_any(
                            rows, first, end, top, background, f, goes, t, gap, words, start, other, sets
                        )
                    if holders[player] > 0:
                        last = _not_own(rows, top, last, own, player)
                    if last == top:
                        node = along
                        continue
                    stack[frames, _NODE] = along
                    stack[frames, _FIRST] = first
                    stack[frames, _END] = end
                    stack[frames, _MIDDLE] = top
                    stack[frames, _TOP] = last
                    stack[frames, _PLAYER] = player
                    stack[frames, _TODO] = _OTHER
                    frames += 1
                    _as_other(phi, r, out, -1.0, player, rows, top, last, sums, total, path, n_other, n_own, own)
                    is_other[player] = True
                    if path is not None:
                        path[0, n_other] = player
                    n_other += 1
                    node, first, end, top = aside, top, last, last
                    continue
                _reach(value, node, rows, first, end, weights, owns, coefficients, n_other, sums, total, path)
                node = -1
                while frames > 0 and node < 0:
                    frames -= 1
                    todo, top = stack[frames, _TODO], stack[frames, _TOP]
                    player, middle = stack[frames, _PLAYER], stack[frames, _MIDDLE]
                    if todo != _OWN:
                        node, first, end = stack[frames, _NODE], stack[frames, _FIRST], stack[frames, _END]
                    if todo == _OTHER:
                        is_other[player] = False
                        n_other -= 1
                        _as_other(phi, r, out, 1.0, player, rows, middle, top, sums, total, path, n_other, n_own, own)
                        _as_own(phi, r, out, -1.0, player, rows, middle, top, sums, path, n_other, n_own, own, owns)
                        if path is not None and holders[player] == 0:
                            path[1, n_own] = player
                            n_own += 1
                        holders[player] += top - middle
                        stack[frames, _TODO] = _OWN
                        frames += 1
                    elif todo == _OWN:
                        holders[player] -= top - middle
                        n_own -= holders[player] == 0
                        _as_own(phi, r, out, 1.0, player, rows, middle, top, sums, path, n_other, n_own, own, owns)
