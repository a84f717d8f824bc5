"""Accumulated local effects of any number of features together, as Apley and Zhu 2020 define them.

An axis is a list of edges (numbers) or of levels (texts, in their order). Everything is kept in dictionaries by
position: one number per feature.
"""

import itertools

from .accumulated_local import bin_of
from .partial_dependence import with_values


def _is_levels(axis):
    return isinstance(axis[0], str)


def _n_cells(axis):
    return len(axis) if _is_levels(axis) else len(axis) - 1


def _cell(value, axis):
    return axis.index(value) if _is_levels(axis) else bin_of(value, axis)


def _positions(sizes):
    return list(itertools.product(*(range(size) for size in sizes)))


def _steps_of(cell, axis):
    """The steps a row in this cell takes part in: across its bin, or to its level and on from it."""
    if not _is_levels(axis):
        return [cell]
    return [step for step in (cell - 1, cell) if 0 <= step < len(axis) - 1]


def _mixed_difference(value_at, step, dimensions):
    """Signed sum over all corners of a step; ``value_at`` takes the position along the given dimensions."""
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(dimensions)):
        sign = (-1) ** (len(dimensions) - sum(corner))
        total += sign * value_at(tuple(s + up for s, up in zip(step, corner, strict=True)))
    return total


def _places(axis):
    if _is_levels(axis):
        return [step / (len(axis) - 1) for step in range(len(axis) - 1)]
    return [(a + b) / 2 / (axis[-1] - axis[0]) for a, b in itertools.pairwise(axis)]


def _fill(means, axes):
    """Steps of several features without rows are like the nearest step with rows; of one feature, no change."""
    if len(axes) == 1:
        return {step: 0.0 if mean is None else mean for step, mean in means.items()}
    places = [_places(axis) for axis in axes]
    known = [step for step in sorted(means) if means[step] is not None]

    def gap(one, other):
        return sum((p[i] - p[j]) ** 2 for p, i, j in zip(places, one, other, strict=True))

    filled = {}
    for step in means:
        if means[step] is not None:
            filled[step] = means[step]
            continue
        least = min(gap(step, other) for other in known)
        filled[step] = means[next(other for other in known if gap(step, other) <= least * (1 + 1e-9))]
    return filled


def _add_up(steps, axes):
    """At every point the sum over all steps before it."""
    return {
        point: sum(value for step, value in steps.items() if all(s < p for s, p in zip(step, point, strict=True)))
        for point in _positions([len(axis) for axis in axes])
    }


def _in_cell(surface, axes, cell):
    """Mean of a function of points over the corners of a cell; a level is its own corner."""
    corners = itertools.product(*((c,) if _is_levels(axis) else (c, c + 1) for c, axis in zip(cell, axes, strict=True)))
    values = [surface[corner] for corner in corners]
    return sum(values) / len(values)


def _weight(mass, axes, subset, position):
    """Weight of the rows at a step along the subset and in a cell along the rest; a step between levels has half of both."""
    options = itertools.product(
        *(
            (p, p + 1) if d in subset and _is_levels(axis) else (p,)
            for d, (p, axis) in enumerate(zip(position, axes, strict=True))
        )
    )
    masses = [mass[cell] for cell in options]
    return sum(masses) / len(masses)


def _lower_order(surface, mass, axes, subset):
    """The effect of some of the features that a function of all of them contains."""
    rest = [d for d in range(len(axes)) if d not in subset]
    means = {}
    for step in _positions([len(axes[d]) - 1 for d in subset]):
        total, weights = 0.0, 0.0
        for cell in _positions([_n_cells(axes[d]) for d in rest]):
            fixed = dict(zip(rest, cell, strict=True))

            def value_at(point, fixed=fixed):
                # The mean over the corners of the cell along the rest, at a point along the subset.
                at = fixed | dict(zip(subset, point, strict=True))
                corners = itertools.product(
                    *((at[d],) if d in subset or _is_levels(axes[d]) else (at[d], at[d] + 1) for d in range(len(axes)))
                )
                values = [surface[corner] for corner in corners]
                return sum(values) / len(values)

            position = fixed | dict(zip(subset, step, strict=True))
            w = _weight(mass, axes, subset, tuple(position[d] for d in range(len(axes))))
            total += w * _mixed_difference(value_at, step, subset)
            weights += w
        means[step] = total / weights if weights > 0 else None
    some = [axes[d] for d in subset]
    return _add_up(_fill(means, some), some)


def ale_together(f, rows, features, axes, weights):
    """The effect of all features together at every combination of points, as a dictionary by position."""
    sums = {step: [0.0, 0.0] for step in _positions([len(axis) - 1 for axis in axes])}
    mass = dict.fromkeys(_positions([_n_cells(axis) for axis in axes]), 0.0)
    every = range(len(axes))
    for row, w in zip(rows, weights, strict=True):
        cell = tuple(_cell(row[j], axis) for j, axis in zip(features, axes, strict=True))
        if None in cell:
            continue
        mass[cell] += w

        def predict(point, row=row):
            return f(with_values(row, features, tuple(axes[d][point[d]] for d in every)))

        for step in itertools.product(*(_steps_of(c, axis) for c, axis in zip(cell, axes, strict=True))):
            sums[step][0] += w * _mixed_difference(predict, step, every)
            sums[step][1] += w
    means = {step: total / w if w > 0 else None for step, (total, w) in sums.items()}
    surface = _add_up(_fill(means, axes), axes)
    for order in range(len(axes) - 1, 0, -1):
        subsets = list(itertools.combinations(every, order))
        lower = {subset: _lower_order(surface, mass, axes, subset) for subset in subsets}
        surface = {
            point: value - sum(lower[subset][tuple(point[d] for d in subset)] for subset in subsets)
            for point, value in surface.items()
        }
    mean = sum(w * _in_cell(surface, axes, cell) for cell, w in mass.items()) / sum(mass.values())
    return {point: value - mean for point, value in surface.items()}
