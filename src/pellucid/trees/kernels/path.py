"""Path-dependent Shapley values: one walk over each tree, eight rows at a time.

Let P(t) be the product of the factors F = z + t (a - z) of the players on the path to a node, and S(t) the
sum over the leaves below it of their values times the factors met below it. At a node that sends the share z
left, with a = 1 for rows that go left, r = F_left / F_before and 1 - r belong to the two children, so

    down:   P_left = P r,   P_right = P - P_left
    up:     D = S_left - S_right,   S = S_right + r D
            phi_player += sum_k w_k P(t_k) e(t_k) D(t_k)

with e = a - z at a player's first split and, at a later one, r times the change of (a - z)/F that the split makes
(zero for rows that had left the player's interval before). r and e are linear in the row's decisions; their
coefficients are prepared in path_program.py. The weights w_k are put into P at the root. Everything is a
convex combination: nothing cancels, at any depth.
"""

from __future__ import annotations

from pellucid.trees.kernels.blocks import COLUMN_BYTES, ROWS
from pellucid.trees.kernels.categories import CATEGORY, decide_categories
from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.path_program import (
    AGAIN,
    BEFORE,
    BOTTOM,
    COLUMN,
    CONSTANTS,
    DOWN1,
    DOWN2,
    GOES,
    GROUP1,
    GROUP2,
    JUMP,
    KEEP_MASK,
    KIND,
    LEFT,
    MASK_RIGHT,
    MISSING_LEFT,
    MIXED,
    NO,
    PLAYER,
    POINTS,
    PRODUCT,
    RIGHT,
    SHARE,
    SUM,
    SUM_LEFT,
    SUM_RIGHT,
    THRESHOLD,
    UP1,
    UP2,
    VALUE,
    YES,
)
from pellucid.trees.kernels.simd import (
    VECTOR_BYTES,
    choose,
    choose_missing_yes,
    fused,
    fused_less,
    load,
    number,
    splat,
    store,
)


@inner
def _goes(x, c, missing_left):
    """1 for rows that go to the first child, else 0."""
    if missing_left:
        return choose_missing_yes(load(x), number(c + THRESHOLD), number(c + YES), number(c + NO))
    return choose(load(x), number(c + THRESHOLD), number(c + YES), number(c + NO))


@inner
def _first_ratio(h, a, k, i):
    return fused(a, number(h + 8 * (k + i)), number(h + 8 * i))


@inner
def _again_ratio(c, before, now, k, i):
    h = c + POINTS
    return fused(now, number(h + 8 * (k + i)), fused(before, number(h + 8 * i), number(c + SHARE)))


@inner
def _again_gain(h, before, now, k, i):
    return fused(now, number(h + 8 * (3 * k + i)), before * number(h + 8 * (2 * k + i)))


@inner
def _pair_sum(h, a, k, i):
    """S of a node with two leaves."""
    return fused(a, number(h + 8 * (5 * k + i)), number(h + 8 * (4 * k + i)))


@inner
def _add(address, x, y):
    """Adds ``x * y``."""
    store(address, fused(x, y, load(address)))


@inner
def _down2(x, missing_left, goes, p, left, right, c, mask, keep, points, lanes):
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a = _goes(x + r, c, missing_left)
        store(goes + r, a)
        if keep:
            store(mask + r, splat(1.0) - a)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            product = load(p + j)
            first = product * _first_ratio(h, a, k, i)
            store(left + j, first)
            store(right + j, product - first)


@inner
def _down1(x, missing_left, goes, p, right, c, mask, keep, points, lanes):
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a = _goes(x + r, c, missing_left)
        store(goes + r, a)
        if keep:
            store(mask + r, splat(1.0) - a)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            product = load(p + j)
            store(right + j, fused_less(product, _first_ratio(h, a, k, i), product))


@inner
def _up2(phi, p, s, left, right, goes, c, points, lanes):
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a = load(goes + r)
        total = splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            last = load(right + j)
            d = load(left + j) - last
            total = fused(load(p + j), d, total)
            store(s + j, fused(d, _first_ratio(h, a, k, i), last))
        _add(phi + r, a - number(c + SHARE), total)


@inner
def _up1(phi, p, s, right, goes, c, points, lanes):
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a = load(goes + r)
        total = splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            last = load(right + j)
            d = number(c + VALUE) - last
            total = fused(load(p + j), d, total)
            store(s + j, fused(d, _first_ratio(h, a, k, i), last))
        _add(phi + r, a - number(c + SHARE), total)


@inner
def _bottom(x, missing_left, phi, p, s, c, points, lanes):
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a = _goes(x + r, c, missing_left)
        total = splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            total = total + load(p + j)
            store(s + j, _pair_sum(h, a, k, i))
        _add(phi + r, (a - number(c + SHARE)) * number(c + JUMP), total)


@inner
def _group2(x0, phi0, base, steps, n, p, s, points, lanes):
    """A node and the two leaf pairs below it, without touching the workspace in between."""
    x, x1, x2 = x0 + steps[n, COLUMN], x0 + steps[n + 1, COLUMN], x0 + steps[n + 2, COLUMN]
    c, c1, c2 = base + steps[n, CONSTANTS], base + steps[n + 1, CONSTANTS], base + steps[n + 2, CONSTANTS]
    phi, phi1, phi2 = phi0 + steps[n, PLAYER], phi0 + steps[n + 1, PLAYER], phi0 + steps[n + 2, PLAYER]
    m, m1, m2 = steps[n, MISSING_LEFT], steps[n + 1, MISSING_LEFT], steps[n + 2, MISSING_LEFT]
    k, h, h1, h2 = len(points), c + POINTS, c1 + POINTS, c2 + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a, a1, a2 = _goes(x + r, c, m), _goes(x1 + r, c1, m1), _goes(x2 + r, c2, m2)
        total, total1, total2 = splat(0.0), splat(0.0), splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            product = load(p + j)
            ratio = _first_ratio(h, a, k, i)
            first = product * ratio
            total1 = total1 + first
            total2 = total2 + (product - first)
            last = _pair_sum(h2, a2, k, i)
            d = _pair_sum(h1, a1, k, i) - last
            total = fused(product, d, total)
            store(s + j, fused(d, ratio, last))
        _add(phi + r, a - number(c + SHARE), total)
        _add(phi1 + r, (a1 - number(c1 + SHARE)) * number(c1 + JUMP), total1)
        _add(phi2 + r, (a2 - number(c2 + SHARE)) * number(c2 + JUMP), total2)


@inner
def _mixed_pair(again, c, a, old, k, i):
    """S and e of a leaf pair whose player may have occurred before."""
    if again:
        now = old * a
        jump = number(c + JUMP)
        sum_ = fused(jump, _again_ratio(c, old, now, k, i), number(c + VALUE) - jump)
        return sum_, _again_gain(c + POINTS, old, now, k, i)
    return _pair_sum(c + POINTS, a, k, i), a - number(c + SHARE)


@inner
def _mixed(x0, phi0, base, w, steps, n, p, s, points, lanes):
    """As `_group2`, where a player of the pairs occurred before: above, or at the node itself."""
    x, x1, x2 = x0 + steps[n, COLUMN], x0 + steps[n + 1, COLUMN], x0 + steps[n + 2, COLUMN]
    c, c1, c2 = base + steps[n, CONSTANTS], base + steps[n + 1, CONSTANTS], base + steps[n + 2, CONSTANTS]
    phi, phi1, phi2 = phi0 + steps[n, PLAYER], phi0 + steps[n + 1, PLAYER], phi0 + steps[n + 2, PLAYER]
    m, m1, m2 = steps[n, MISSING_LEFT], steps[n + 1, MISSING_LEFT], steps[n + 2, MISSING_LEFT]
    again1, again2 = steps[n + 1, KIND] >= AGAIN, steps[n + 2, KIND] >= AGAIN
    before1, before2 = w + steps[n + 1, BEFORE], w + steps[n + 2, BEFORE]
    goes, mask, keep = w + steps[n, GOES], w + steps[n, MASK_RIGHT], steps[n, KEEP_MASK]
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a, a1, a2 = _goes(x + r, c, m), _goes(x1 + r, c1, m1), _goes(x2 + r, c2, m2)
        if keep:
            store(goes + r, a)
            store(mask + r, splat(1.0) - a)
        old1, old2 = load(before1 + r), load(before2 + r)
        total, total1, total2 = splat(0.0), splat(0.0), splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            product = load(p + j)
            ratio = _first_ratio(h, a, k, i)
            first = product * ratio
            sum1, gain1 = _mixed_pair(again1, c1, a1, old1, k, i)
            last, gain2 = _mixed_pair(again2, c2, a2, old2, k, i)
            total1 = fused(first, gain1, total1)
            total2 = fused(product - first, gain2, total2)
            d = sum1 - last
            total = fused(product, d, total)
            store(s + j, fused(d, ratio, last))
        _add(phi + r, a - number(c + SHARE), total)
        _add(phi1 + r, number(c1 + JUMP), total1)
        _add(phi2 + r, number(c2 + JUMP), total2)


@inner
def _group1(x0, phi0, base, steps, n, p, s, points, lanes):
    """A node with a leaf and a leaf pair."""
    x, x2 = x0 + steps[n, COLUMN], x0 + steps[n + 1, COLUMN]
    c, c2 = base + steps[n, CONSTANTS], base + steps[n + 1, CONSTANTS]
    phi, phi2 = phi0 + steps[n, PLAYER], phi0 + steps[n + 1, PLAYER]
    m, m2 = steps[n, MISSING_LEFT], steps[n + 1, MISSING_LEFT]
    k, h, h2 = len(points), c + POINTS, c2 + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a, a2 = _goes(x + r, c, m), _goes(x2 + r, c2, m2)
        total, total2 = splat(0.0), splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            product = load(p + j)
            ratio = _first_ratio(h, a, k, i)
            total2 = total2 + fused_less(product, ratio, product)
            last = _pair_sum(h2, a2, k, i)
            d = number(c + VALUE) - last
            total = fused(product, d, total)
            store(s + j, fused(d, ratio, last))
        _add(phi + r, a - number(c + SHARE), total)
        _add(phi2 + r, (a2 - number(c2 + SHARE)) * number(c2 + JUMP), total2)


@inner
def _again_down(x, missing_left, goes, p, left, right, c, before, mask, both, points, lanes):
    k = len(points)
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a = _goes(x + r, c, missing_left)
        old = load(before + r)
        now = old * a
        store(goes + r, a)
        store(mask - COLUMN_BYTES + r, now)
        store(mask + r, old - now)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            product = load(p + j)
            first = product * _again_ratio(c, old, now, k, i)
            if both:
                store(left + j, first)
            store(right + j, product - first)


@inner
def _again_up2(phi, p, s, left, right, goes, c, before, points, lanes):
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        old = load(before + r)
        now = old * load(goes + r)
        total = splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            last = load(right + j)
            d = load(left + j) - last
            total = fused(load(p + j) * d, _again_gain(h, old, now, k, i), total)
            store(s + j, fused(d, _again_ratio(c, old, now, k, i), last))
        store(phi + r, load(phi + r) + total)


@inner
def _again_up1(phi, p, s, right, goes, c, before, points, lanes):
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        old = load(before + r)
        now = old * load(goes + r)
        total = splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            last = load(right + j)
            d = number(c + VALUE) - last
            total = fused(load(p + j) * d, _again_gain(h, old, now, k, i), total)
            store(s + j, fused(d, _again_ratio(c, old, now, k, i), last))
        store(phi + r, load(phi + r) + total)


@inner
def _again_bottom(x, missing_left, phi, p, s, c, before, points, lanes):
    k, h = len(points), c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        old = load(before + r)
        now = old * _goes(x + r, c, missing_left)
        jump = number(c + JUMP)
        last = number(c + VALUE) - jump
        total = splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            total = fused(load(p + j), _again_gain(h, old, now, k, i), total)
            store(s + j, fused(jump, _again_ratio(c, old, now, k, i), last))
        _add(phi + r, jump, total)


@inner
def _walk(steps, first, end, base, X, b, sets, phi0, w, points, lanes):
    """One tree, one block."""
    x0 = X.ctypes.data + b * X.shape[1] * COLUMN_BYTES
    n = first
    while n < end:
        kind = steps[n, KIND]
        c, x, phi = base + steps[n, CONSTANTS], x0 + steps[n, COLUMN], phi0 + steps[n, PLAYER]
        missing_left = steps[n, MISSING_LEFT]
        p, s, goes = w + steps[n, PRODUCT], w + steps[n, SUM], w + steps[n, GOES]
        if kind == GROUP2:
            _group2(x0, phi0, base, steps, n, p, s, points, lanes)
            n += 2
        elif kind == GROUP1:
            _group1(x0, phi0, base, steps, n, p, s, points, lanes)
            n += 1
        elif kind == MIXED:
            _mixed(x0, phi0, base, w, steps, n, p, s, points, lanes)
            n += 2
        elif kind == BOTTOM:
            _bottom(x, missing_left, phi, p, s, c, points, lanes)
        elif kind == DOWN2:
            left, mask = w + steps[n, LEFT], w + steps[n, MASK_RIGHT]
            _down2(x, missing_left, goes, p, left, w + steps[n, RIGHT], c, mask, steps[n, KEEP_MASK], points, lanes)
        elif kind == DOWN1:
            mask = w + steps[n, MASK_RIGHT]
            _down1(x, missing_left, goes, p, w + steps[n, RIGHT], c, mask, steps[n, KEEP_MASK], points, lanes)
        elif kind == UP2:
            _up2(phi, p, s, w + steps[n, SUM_LEFT], w + steps[n, SUM_RIGHT], goes, c, points, lanes)
        elif kind == UP1:
            _up1(phi, p, s, w + steps[n, SUM_RIGHT], goes, c, points, lanes)
        elif kind == CATEGORY:
            decide_categories(steps[n], sets, X[b].reshape(-1))
        else:
            before = w + steps[n, BEFORE]
            if kind == AGAIN + BOTTOM:
                _again_bottom(x, missing_left, phi, p, s, c, before, points, lanes)
            elif kind == AGAIN + UP2:
                left, right = w + steps[n, SUM_LEFT], w + steps[n, SUM_RIGHT]
                _again_up2(phi, p, s, left, right, goes, c, before, points, lanes)
            elif kind == AGAIN + UP1:
                _again_up1(phi, p, s, w + steps[n, SUM_RIGHT], goes, c, before, points, lanes)
            else:
                left, right, mask = w + steps[n, LEFT], w + steps[n, RIGHT], w + steps[n, MASK_RIGHT]
                both = kind == AGAIN + DOWN2
                _again_down(x, missing_left, goes, p, left, right, c, before, mask, both, points, lanes)
        n += 1


@kernel
def path_shapley(steps, starts, constants, sets, weights, X, phi, workspace, points, lanes):
    """Adds the trees' Shapley values to ``phi`` (blocks, players, ROWS) for the rows ``X`` (blocks, columns, ROWS).

    ``X`` has one column more than there are features, for the kernel's own use. ``points`` has one entry per quadrature
    point: a tuple, whose length is known when compiling, or an array. ``lanes`` has one entry for each vector of a
    block that holds rows (see `blocks.lanes_of`): of a few rows only the first is worked on.
    """
    for i in range(len(points)):
        for r in range(ROWS):
            workspace[i * ROWS + r] = weights[i]
    base, w = constants.ctypes.data, workspace.ctypes.data
    for tree in range(len(starts) - 1):
        for b in range(len(X)):
            out = phi.ctypes.data + b * phi.shape[1] * COLUMN_BYTES
            _walk(steps, starts[tree], starts[tree + 1], base, X, b, sets, out, w, points, lanes)
