"""What charts of the answers need: what was observed of each column, the ends of the target, and a surface.

A surface is the prediction over two features, the others as in the row: where the target begins, and where the answers
stand. Its grid has 25 values of each feature between the least and the greatest of the data, and besides the row's own
value and those of the answers, so that what is drawn at these is exact; of a feature with levels, each level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data.schema import Feature, Schema
from pellucid.errors import InputError
from pellucid.explanations import Observed, Surface
from pellucid.explanations.counterfactual_words import shown_output
from pellucid.methods.counterfactual.search.constraints import read_names
from pellucid.methods.counterfactual.search.problem import Problem
from pellucid.methods.counterfactual.search.target import Target

SIDE = 25  # values of each feature


def read_surface(given: Any, schema: Schema) -> tuple[int, ...] | None:
    """Which two features a surface is wanted of: none (None), those that change most (empty), or the ones named."""
    if given is None or isinstance(given, bool | np.bool_):
        pair: tuple[int, ...] | None = () if given else None
    elif isinstance(given, str) or not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(
            f"surface must be True or the names of two features, such as ('age', 'amount'), got {given!r}."
        )
    else:
        pair = read_names("surface", list(given), schema)
        if len(set(pair)) < 2:
            raise InputError(f"surface={given!r} names a feature twice; give two different ones.")
    if pair is not None and len(schema.features) < 2:
        raise InputError("surface= needs two features, and the data have one; leave it out.")
    return pair


def surface_of(problem: Problem, rows: FloatArray, pair: tuple[int, ...]) -> Surface:
    """Predictions over the ``pair`` of features (empty: those that change most), around the row and the answers."""
    a, b = pair or _most_changed(problem, rows)
    features = problem.data.schema.features
    grids = [_grid(features[j], np.append(rows[:, j], problem.x[j])) for j in (a, b)]
    table = np.tile(problem.x, (len(grids[0]) * len(grids[1]), 1))
    table[:, a], table[:, b] = np.repeat(grids[0], len(grids[1])), np.tile(grids[1], len(grids[0]))
    full = problem.run.predict(problem.predictor, problem.data.of_codes(table), full=True)
    explained, shape = problem.predictor.restrict(full), (len(grids[0]), len(grids[1]))
    k = shown(problem, rows)
    return Surface(
        names=(features[a].name, features[b].name),
        output=problem.predictor.output_names[k],
        grids=(features[a].decode(grids[0]), features[b].decode(grids[1])),
        values=explained[:, k].reshape(shape),
        margin=margin(problem.target, problem.target.outputs(problem.predictor, full)).reshape(shape),
    )


def margin(target: Target, outputs: FloatArray) -> FloatArray:
    """How far inside the target each prediction is: its least slack, at least 0 where the target is reached."""
    slack = []
    for region in target.regions:
        reached = outputs @ region.matrix.T
        slack.append(np.minimum(reached - region.low, region.high - reached).min(axis=1))
    return np.asarray(np.max(slack, axis=0))


def observed(schema: Schema) -> tuple[Observed, ...]:
    """What the data hold of each column."""
    return tuple(Observed(f.kind, float(f.low), float(f.high), _levels(f)) for f in schema.features)


def aim(problem: Problem, rows: FloatArray) -> tuple[float, float] | None:
    """The ends of the target on the output that is shown, where it is an interval of that output."""
    target, predictor = problem.target, problem.predictor
    if (
        len(target.regions) != 1
        or len(target.regions[0].matrix) != 1
        or (target.explained != (predictor.link != "identity"))
    ):
        return None
    region, k = target.regions[0], shown(problem, rows)
    place = k if target.explained else predictor.explained[k]
    line, low, high = region.matrix[0], float(region.low[0]), float(region.high[0])
    if not (line == np.eye(len(line))[place]).all():
        other = len(line) == 2 and predictor.raw_scale == "probability" and line.sum() == 1 and line.max() == 1
        if not other or target.explained:
            return None
        low, high = 1 - high, 1 - low
    return low, high


def shown(problem: Problem, rows: FloatArray) -> int:
    """The explained output that charts show."""
    own = problem.predictor.restrict(problem.score(problem.x[None]))
    said = problem.predictor.restrict(problem.score(rows)) if len(rows) else own
    return shown_output(own[0], said, problem.predictor.scale)


def _levels(feature: Feature) -> tuple[str, ...]:
    if feature.kind == "boolean":
        return ("no", "yes")
    return tuple(str(level) for level in feature.categories or ())


def _most_changed(problem: Problem, rows: FloatArray) -> tuple[int, int]:
    """The two columns that change in most answers; then those of other rows that would do; then any that may change."""
    often = problem.changed(rows).sum(axis=0) * 1e6 + problem.changed(problem.answers()).sum(axis=0) + problem.free
    first, second = np.argsort(-often, kind="stable")[:2]
    return int(first), int(second)


def _grid(feature: Feature, used: FloatArray) -> FloatArray:
    used = used[~np.isnan(used)]
    if feature.nominal:
        n = 2 if feature.categories is None else len(feature.categories)
        others = np.setdiff1d(np.arange(float(n)), used)
        return np.sort(np.append(np.unique(used), others[: max(SIDE - len(used), 0)]))
    ends = [end for end in (feature.low, feature.high) if np.isfinite(end)]
    spread = np.linspace(min([*ends, *used], default=0.0), max([*ends, *used], default=1.0), SIDE)
    if feature.kind == "integer" or (feature.kind == "date" and feature.whole_days):
        step = 1.0 if feature.kind == "integer" else 86_400_000_000.0
        spread = np.round(spread / step) * step
    return np.unique(np.append(spread, used))
