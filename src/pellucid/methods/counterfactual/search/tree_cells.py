"""A problem in cells: what the trees of a model tell apart of each feature, and what getting there costs.

What belongs to the model (edges of features, encoded levels, boxes of leaves) is worked out once and kept; a question
adds own cells, the value that stands for each cell, and its cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.counterfactual.search.cell_values import Cells, Player, listed_codes, nearest_values, player_at
from pellucid.methods.counterfactual.search.constraints import learn_step
from pellucid.methods.counterfactual.search.feature_edges import Edges, Scale, find_edges, same_edges
from pellucid.methods.counterfactual.search.problem import Problem
from pellucid.models import Predictor
from pellucid.reading.trees import Trees
from pellucid.trees.cells import Boxes, Column, Points, find_boxes, thresholds_of

_KEPT = 8  # boxes, for different groups, levels and relations


@dataclass(eq=False)
class TreeCells:
    """What is known of the model for every row."""

    trees: Trees
    predictor: Predictor
    data: Data
    feature: IntArray = field(init=False)  # of each column of the trees
    edges: dict[int, Edges] = field(init=False)
    single: dict[int, bool] = field(default_factory=dict)
    boxes: dict[bytes, Boxes] = field(default_factory=dict)
    points: dict[tuple[int, ...], tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model = self.trees.model
        self.feature = np.asarray(self.predictor.columns, dtype=np.intp)[model.source]
        self.edges = self._edges()

    def encode(self, rows: FloatArray) -> FloatArray:
        """Rows of codes as the trees see them."""
        return self.trees.model.encode(self.predictor.dressed(self.data.of_codes(rows).frame))

    def columns(self, features: Sequence[int]) -> IntArray:
        """The columns of the trees that are made from some features."""
        return np.flatnonzero(np.isin(self.feature, features))

    def _edges(self) -> dict[int, Edges]:
        """The features with one column of numbers that rises or falls with them."""
        ensemble, schema = self.trees.model.ensemble, self.data.schema
        with_sets = np.unique(ensemble.nodes.feature[ensemble.nodes.set_words > 0])
        scales, columns, thresholds = {}, {}, {}
        for j, feature in enumerate(schema.features):
            own = self.columns([j])
            if not feature.nominal and not feature.empty and len(own) == 1 and own[0] not in with_sets:
                step, decimals = learn_step(self.data, j)
                scales[j] = Scale(feature.low, feature.high, step, decimals)
                columns[j], thresholds[j] = int(own[0]), thresholds_of(ensemble, own)
                self.single[j] = self._is_single(j)
        x = np.array([self._middle(j) for j in range(len(schema.features))])
        found = same_edges(self.encode, x, scales, columns, thresholds)
        rest = {j: scale for j, scale in scales.items() if j not in found}
        if rest:
            bent = find_edges(self.encode, x, rest, columns, thresholds)
            found |= {j: edges for j, edges in bent.items() if edges is not None}
        return found

    def _is_single(self, j: int) -> bool:
        values = self.data.codes(j)
        values = values[~np.isnan(values)]
        return bool((values.astype(np.float32) == values).all())

    def _middle(self, j: int) -> float:
        values = self.data.codes(j)
        values = values[~np.isnan(values)]
        return float(np.sort(values)[len(values) // 2]) if len(values) else np.nan

    def encoded(self, features: tuple[int, ...], codes: FloatArray, x: FloatArray) -> FloatArray:
        """What the columns of some features are at combinations ``(n, features)`` of their codes."""
        known = self.points.get(features)
        if known is not None and np.array_equal(known[0], codes, equal_nan=True):
            return known[1]
        rows = np.repeat(x[None], len(codes), axis=0)
        rows[:, list(features)] = codes
        matrix = self.encode(rows)[:, self.columns(features)]
        self.points[features] = (codes, matrix)
        return matrix

    def boxes_of(self, players: Sequence[tuple[int, ...]], own: Sequence[Column | Points]) -> Boxes:
        """The boxes of leaves over some players, kept for the next row."""
        player = np.full(self.trees.model.ensemble.n_features, -1)
        for i, features in enumerate(players):
            player[self.columns(features)] = i
        parts = [part.points if isinstance(part, Points) else np.append(part.cuts, part.runs) for part in own]
        key = player.tobytes() + b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        if key not in self.boxes:
            while len(self.boxes) >= _KEPT:
                self.boxes.pop(next(iter(self.boxes)))
            self.boxes[key] = find_boxes(self.trees.model.ensemble, player, own)
        return self.boxes[key]


def cells_of(known: TreeCells, problem: Problem, apart: frozenset[int]) -> tuple[Cells, Boxes]:
    """The cells of every player, and the boxes of the leaves in them; the values of features in ``apart`` are told
    apart one by one.
    """
    groups = {group.columns: group.combinations for group in problem.groups}
    found: list[tuple[Player, Column | Points]] = []
    for features in problem.players:
        if features in groups:
            found.append(_at_points(known, problem, features, groups[features]))
        elif features[0] in known.edges or not len(known.columns(features)):
            found.append(_along_column(known, problem, features[0], features[0] in apart))
        else:
            found.append(_at_points(known, problem, features, listed_codes(problem, features[0])))
    players, cells = zip(*found, strict=True)
    return Cells(problem, players), known.boxes_of(problem.players, cells)


def _at_points(
    known: TreeCells, problem: Problem, features: tuple[int, ...], codes: FloatArray
) -> tuple[Player, Points]:
    points = Points(known.columns(features), known.encoded(features, codes, problem.x))
    return player_at(problem, features, codes), points


def _along_column(known: TreeCells, problem: Problem, j: int, one_by_one: bool) -> tuple[Player, Column]:
    choices, x = problem.choices[j], float(problem.x[j])
    edges = known.edges.get(j, Edges(np.empty(0)))
    own_column = known.columns([j])
    thresholds = thresholds_of(known.trees.model.ensemble, own_column)
    column = Column.of(thresholds)
    if one_by_one and choices.values is not None and not np.isnan(x):
        column, edges = _finer(column, edges, choices.values)
    at = known._middle(j) if np.isnan(x) else x
    codes = nearest_values(choices, edges.codes, at, single=known.single.get(j, False))
    own = int(edges.interval(np.array([x]))[0])
    if edges.falls:
        codes, own = codes[::-1], len(codes) - 1 - own
    if np.isnan(x):
        own = column.runs
        if len(own_column):  # the missing value itself, or what an encoder fills in for it
            own = int(column.cell(known.encode(problem.x[None])[0, own_column])[0])
    codes = np.append(codes, np.nan)
    codes[own] = x
    cost = np.where(np.isnan(codes), np.inf, 0.0)
    some = np.isfinite(cost)
    cost[some] = problem.cost.of(j, codes[some])
    cost[own] = 0.0
    return Player((j,), codes[:, None], cost, own), column


def _finer(column: Column, edges: Edges, values: FloatArray) -> tuple[Column, Edges]:
    """Cells of single values."""
    every = np.unique(np.concatenate([edges.codes, values[~np.isnan(values)]]))
    place = np.searchsorted(every, edges.codes)  # of each edge
    cuts = (len(every) - place)[::-1] if edges.falls else place + 1
    return Column(column.thresholds, cuts, len(every) + 1), replace(edges, codes=every)
