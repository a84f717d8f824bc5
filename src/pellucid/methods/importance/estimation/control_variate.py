"""A simple function that resembles the model, whose variance is known part by part: a control variate.

Definition. With phi_u1, phi_u2, ... functions of the u-th unit, of mean zero, variance one and uncorrelated,

    g(x) = g_0 + sum_u h_u(x_u) + sum_uw phi_u' C_uw phi_w + sum c_uw h_u h_w + sum c_uwz h_u h_w h_z,

fitted by least squares. All parts are orthogonal under independent units, so that variances are sums of squared
coefficients. What is estimated for the model f by sampling is estimated as the exact answer for g plus the sampled
difference between f and g, which varies less the better g resembles f, and is right whatever g is (g is fitted on other
points than those the difference is taken on).

The functions of a number are polynomials and broken lines with knots at the eighths of its distribution; of
a category the indicators of its most frequent levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.importance.estimation.inputs import Unit

_DEGREE = 8
_KNOTS = np.arange(1, 8) / 8
_LEVELS = 12
_POINTS_PER_TERM = 8
_MOST_TERMS = 320
_MOST_POINTS = 8192
_PAIR_DEGREE = 6
_LEAST_SHRINKING = 1e-9


@dataclass(frozen=True, eq=False)
class ControlVariate:
    """Coefficients of g for one output; ``shapes[u]`` are the values of phi_u ``(values of the unit, functions)``."""

    shapes: list[FloatArray]
    constant: float = 0.0
    main: dict[int, FloatArray] = field(default_factory=dict)
    pair: dict[tuple[int, int], FloatArray] = field(default_factory=dict)
    products: dict[tuple[int, ...], float] = field(default_factory=dict)

    def __call__(self, positions: IntArray) -> FloatArray:
        """g at positions ``(rows, units)`` of the units' values."""
        curves = {u: (self.shapes[u] @ c)[positions[:, u]] for u, c in self.main.items()}
        total = np.full(len(positions), self.constant)
        for curve in curves.values():
            total += curve
        for (u, w), c in self.pair.items():
            first = (self.shapes[u][:, : c.shape[0]] @ c)[positions[:, u]]
            total += np.einsum("mi,mi->m", first, self.shapes[w][positions[:, w], : c.shape[1]])
        for units, scale in self.products.items():
            product = scale * curves[units[0]]
            for u in units[1:]:
                product *= curves[u]
            total += product
        return total

    def alone(self) -> ControlVariate:
        """The constant and the main effects."""
        return ControlVariate(self.shapes, self.constant, self.main)

    def parts(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """The variance of each part, with its units."""
        for u, c in self.main.items():
            yield (u,), float(c @ c)
        for u, w in sorted({*self.pair, *[(units[0], units[1]) for units in self.products if len(units) == 2]}):
            table = np.zeros((self.shapes[u].shape[1], self.shapes[w].shape[1]))
            if (u, w) in self.pair:
                c = self.pair[u, w]
                table[: c.shape[0], : c.shape[1]] += c
            if (u, w) in self.products:
                table += self.products[u, w] * np.outer(self.main[u], self.main[w])
            yield (u, w), float(np.square(table).sum())
        for units, scale in self.products.items():
            if len(units) > 2:
                yield units, scale**2 * float(np.prod([self.main[u] @ self.main[u] for u in units]))

    def variances(self, belongs: BoolArray) -> tuple[float, FloatArray, FloatArray]:
        """Variance of g, and of each player ``(players, units)`` alone and in all."""
        alone, total = np.zeros(len(belongs)), np.zeros(len(belongs))
        variance = 0.0
        for units, part in self.parts():
            inside = belongs[:, list(units)]
            variance += part
            alone += part * inside.all(axis=1)
            total += part * inside.any(axis=1)
        return variance, alone, total


def fit_control_variates(
    units: tuple[Unit, ...], shapes: list[FloatArray], positions: IntArray, values: FloatArray, weight: FloatArray
) -> list[ControlVariate]:
    """One for each output of ``values`` (rows, outputs); ``weight`` (units,) says which pairs of units come first."""
    if len(positions) > _MOST_POINTS:
        some = np.linspace(0, len(positions) - 1, _MOST_POINTS).astype(np.intp)
        positions, values = positions[some], values[some]
    room = min(_MOST_TERMS, len(positions) // _POINTS_PER_TERM)
    plan = _plan(units, shapes, weight, room)
    design, slots = _design(plan, shapes, positions)
    coefficients = _least_squares(design, values)
    fitted = []
    for k in range(values.shape[1]):
        g = _unpacked(shapes, slots, coefficients[:, k])
        fitted.append(_with_products(g, design, slots, positions, values[:, k], room))
    return fitted


def unit_shapes(unit: Unit) -> FloatArray:
    """``(values, functions)``: functions of a unit with mean zero and variance one that are uncorrelated."""
    raw = _levels(unit) if unit.nominal else _numbers(unit)
    root = np.sqrt(unit.mass)[:, None]
    columns = np.hstack([root, root * raw])
    sizes = np.sqrt(np.square(columns).sum(axis=0))
    # Functions that are sums of those before them are left out.
    new = np.abs(np.diag(np.linalg.qr(columns / np.where(sizes > 0, sizes, 1.0), mode="r"))) > 1e-7
    kept = np.flatnonzero(new)
    orthogonal = np.linalg.qr(columns[:, kept])[0]
    return np.asarray(orthogonal[:, 1:] / root)


def _levels(unit: Unit) -> FloatArray:
    frequent = np.argsort(-unit.mass, kind="stable")[:_LEVELS]
    return np.asarray((np.arange(len(unit.mass))[:, None] == frequent).astype(np.float64))


def _numbers(unit: Unit) -> FloatArray:
    """Polynomials and broken lines; of several columns powers and products; an indicator where something is missing."""
    scaled = []
    for codes in unit.codes.T:
        there = ~np.isnan(codes)
        low, high = (codes[there].min(), codes[there].max()) if there.any() else (0.0, 0.0)
        x = (np.where(there, codes, low) - low) / (high - low) * 2 - 1 if high > low else np.zeros(len(codes))
        scaled.append(np.where(there, x, 0.0))
    if len(scaled) == 1:
        x, upper = scaled[0], np.cumsum(unit.mass)
        knots = x[np.minimum(np.searchsorted(upper, _KNOTS), len(x) - 1)]
        columns = [np.polynomial.legendre.legvander(x, _DEGREE)[:, 1:], np.maximum(x[:, None] - knots, 0.0)]
    else:
        some = scaled[:_LEVELS]
        columns = [np.stack([x**d for d in (1, 2, 3) for x in some], axis=1)]
        columns += [(a * b)[:, None] for a, b in combinations(some[:4], 2)]
    missing = np.isnan(unit.codes).any(axis=1, keepdims=True)
    # Missing values stand apart: what is said of numbers is zero there.
    return np.hstack([*[np.where(missing, 0.0, column) for column in columns], missing.astype(np.float64)])


# -- fitting -----------------------------------------------------------------------------------------

_Plan = list[tuple[tuple[int, ...], int]]  # units, and how many functions of each
_Slots = list[tuple[tuple[int, ...], tuple[int, ...]]]


def _plan(units: tuple[Unit, ...], shapes: list[FloatArray], weight: FloatArray, room: int) -> _Plan:
    """Main effects first, then as many functions of pairs as there is room for, the weightiest units first."""
    order = [int(u) for u in np.argsort(-weight, kind="stable") if units[u].varies and weight[u] > 0]
    each = max((d for d in range(1, 17) if d * len(order) <= room // 2), default=1)
    plan: _Plan = [((u,), each) for u in order[: max(1, room)]]
    left = room - sum(min(each, shapes[u].shape[1]) for (u,), _ in plan)
    pairs = sorted(combinations(order, 2), key=lambda p: -weight[p[0]] * weight[p[1]])[: max(left, 0)]
    degrees = _degrees(np.array([weight[u] * weight[w] for u, w in pairs]), left)
    return plan + [((min(pair), max(pair)), d) for pair, d in zip(pairs, degrees, strict=True) if d]


def _degrees(worth: FloatArray, room: int) -> list[int]:
    """How many functions of each of its units a pair gets: the next one goes where it promises most for the terms it
    takes.
    """
    degree = np.zeros(len(worth), dtype=np.intp)
    while len(worth):
        cost = 2 * degree + 1
        promise = np.where((degree < _PAIR_DEGREE) & (cost <= room), worth / (cost * np.square(degree + 1.0)), 0.0)
        best = int(np.argmax(promise))
        if promise[best] <= 0:
            break
        room -= int(cost[best])
        degree[best] += 1
    return [int(d) for d in degree]


def _design(plan: _Plan, shapes: list[FloatArray], positions: IntArray) -> tuple[FloatArray, _Slots]:
    columns, slots = [np.ones((len(positions), 1))], []
    for units, functions in plan:
        parts = [shapes[u][positions[:, u], :functions] for u in units]
        block = parts[0] if len(parts) == 1 else np.einsum("mi,mj->mij", *parts)
        columns.append(block.reshape(len(positions), -1))
        slots.append((units, block.shape[1:]))
    return np.hstack(columns), slots


def _least_squares(design: FloatArray, values: FloatArray) -> FloatArray:
    """Coefficients ``(terms, outputs)``, shrunk as much as suits the noise: the residual variance over that of the
    coefficients.
    """
    n, terms = design.shape
    gram, products = design.T @ design / n, design.T @ values / n
    diagonal = np.arange(1, terms)  # not the constant
    gram[diagonal, diagonal] += _LEAST_SHRINKING
    found = np.asarray(np.linalg.solve(gram, products))
    residual = np.square(values - design @ found).mean(axis=0) * n / max(n - terms, 1)
    signal = np.maximum(values.var(axis=0) - residual, 1e-300)
    for k, shrinking in enumerate(np.minimum(residual * terms / (n * signal), 1e3)):
        if shrinking > _LEAST_SHRINKING:
            more = gram.copy()
            more[diagonal, diagonal] += shrinking
            found[:, k] = np.linalg.solve(more, products[:, k])
    return found


def _unpacked(shapes: list[FloatArray], slots: _Slots, coefficients: FloatArray) -> ControlVariate:
    g = ControlVariate(shapes, float(coefficients[0]))
    at = 1
    for units, shape in slots:
        size = int(np.prod(shape))
        part = coefficients[at : at + size].reshape(shape)
        if len(units) == 1:
            g.main[units[0]] = np.zeros(shapes[units[0]].shape[1])
            g.main[units[0]][: len(part)] = part
        else:
            g.pair[units[0], units[1]] = part
        at += size
    return g


def _with_products(
    g: ControlVariate, design: FloatArray, slots: _Slots, positions: IntArray, values: FloatArray, room: int
) -> ControlVariate:
    """The same with products of two and three main effects beside, where there are main effects to speak of."""
    sizes = {u: float(c @ c) for u, c in g.main.items()}
    strong = [u for u in sorted(sizes, key=lambda u: -sizes[u]) if sizes[u] > 1e-4 * sum(sizes.values())]
    wanted = [tuple(sorted(units)) for n in (2, 3) for units in combinations(strong[:9], n)]
    wanted = wanted[: max(0, room - design.shape[1] // 4)]
    if not wanted:
        return g
    curves = {u: (g.shapes[u] @ g.main[u])[positions[:, u]] / np.sqrt(sizes[u]) for u in strong}
    more = np.stack([np.prod([curves[u] for u in units], axis=0) for units in wanted], axis=1)
    found = _least_squares(np.hstack([design, more]), values[:, None])[:, 0]
    n = design.shape[1]
    refitted = _unpacked(g.shapes, slots, found[:n])
    # The products are those of the refitted main effects: nearly the same, and what differs is left to the difference f
    # - g.
    again = {u: np.sqrt(max(float(c @ c), 1e-300)) for u, c in refitted.main.items()}
    products = {
        units: float(c / np.prod([again[u] for u in units])) for units, c in zip(wanted, found[n:], strict=True)
    }
    return ControlVariate(refitted.shapes, refitted.constant, refitted.main, refitted.pair, products)
