"""The nearest row by branch and bound against trying every combination of cells."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.trees.cells import Points, find_boxes
from pellucid.trees.nearest import ACCEPT, PRUNE, REJECT, SPLIT, Nearest, Verdict, Wanted
from reference.nearest import nearest_by_enumeration
from reference.trees import predict_one
from trees.ensembles import corner_values, random_ensemble


@dataclass
class Scene:
    """A random question about a random ensemble, whose players are single columns."""

    ensemble: object
    values: list
    costs: list
    own: list
    boxes: object

    def predict(self, row):
        return predict_one(self.ensemble, row)

    def cells(self, places):
        return np.array([self.cell(j)[place] for j, place in enumerate(places)])

    def cell(self, j):
        player = self.boxes.players[j]
        if isinstance(player, Points):
            return np.arange(len(self.values[j]))
        return player.cell(self.values[j])

    def nearest(self, wanted, *, go_on=lambda: True, **options):
        costs = []
        for j, player in enumerate(self.boxes.players):
            cost = np.full(player.cells, np.inf)
            np.minimum.at(cost, self.cell(j), self.costs[j])
            costs.append(cost)
        return Nearest(self.boxes, costs, self.cells(self.own), wanted, **options).run(go_on)

    def row(self, cells):
        """Values at the costs of some cells."""
        found = []
        for j, cell in enumerate(cells):
            here = np.flatnonzero(self.cell(j) == cell)
            found.append(self.values[j][here[np.argmin(self.costs[j][here])]])
        return np.array(found)


def scene(seed, *, n_features=4, most=5, **options):
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, n_features=n_features, **options)
    nodes = ensemble.nodes
    values, costs, own, points = [], [], [], []
    for j in range(n_features):
        pool = np.unique(corner_values(ensemble, j))
        missing = bool(np.isnan(pool).any())
        pool = pool[np.isfinite(pool)]
        picked = np.sort(rng.choice(pool, size=min(len(pool), most), replace=False)) if len(pool) else np.zeros(1)
        if missing and rng.random() < 0.5:
            picked = np.append(picked, np.nan)
        place = int(rng.integers(len(picked)))
        if rng.random() < 0.5:  # by distance, else as it comes
            cost = np.abs(np.arange(len(picked)) - place) * rng.integers(1, 4)
        else:
            cost = rng.integers(1, 6, size=len(picked)) * 1.0
            cost[rng.random(len(picked)) < 0.2] = np.inf
        cost = cost.astype(float)
        cost[place] = 0.0
        is_set = (nodes.feature == j) & (nodes.set_words > 0)
        values.append(picked)
        costs.append(cost)
        own.append(place)
        points.append(Points(np.array([j]), picked[:, None]) if is_set.any() else None)
    found = find_boxes(ensemble, np.arange(n_features), points)
    # a cell has one cost: the least of its values, and that of the own value is 0
    return Scene(ensemble, values, costs, own, found)


def interval(ensemble, rng, lines):
    matrix = rng.integers(-1, 2, size=(lines, ensemble.n_outputs)).astype(float)
    middle = rng.normal(size=lines)
    return Wanted(matrix, middle - rng.exponential(size=lines), middle + rng.exponential(size=lines))


def meets(wanted):
    def check(outputs):
        reached = wanted.matrix @ outputs
        total = np.exp(-reached).sum()
        return bool(
            ((reached >= wanted.low) & (reached <= wanted.high)).all() and wanted.odds[0] <= total <= wanted.odds[1]
        )

    return check


def one_value_per_cell(scene):
    """Of values in one cell only the cheapest can be part of an answer; the own one comes first."""
    values, costs = [], []
    for j in range(len(scene.own)):
        cell, order = scene.cell(j), np.argsort(scene.costs[j], kind="stable")
        kept = [i for n, i in enumerate(order) if cell[i] not in cell[order[:n]]]
        values.append(scene.values[j][kept])
        costs.append(scene.costs[j][kept])
    return values, costs, [0] * len(values)


def assert_nearest(scene, wanted, *, allowed=lambda _: True, judge=None, **options):
    found = scene.nearest(wanted, judge=judge, **options)
    meeting = meets(wanted)
    sets = [np.flatnonzero(line) for line in options.pop("forbidden", [])]
    expected, _ = nearest_by_enumeration(
        lambda row: row,
        *one_value_per_cell(scene),
        lambda row: allowed(row) and meeting(scene.predict(row)),
        forbidden=sets,
        **options,
    )
    assert found.proven
    assert found.cost == pytest.approx(expected, abs=1e-9)
    assert found.lower == pytest.approx(expected, abs=1e-9)
    if np.isfinite(expected):
        row = scene.row(found.cells)
        assert allowed(row)
        assert meeting(scene.predict(row))


KINDS = st.sampled_from([0.0, 0.4, 1.0])
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, categorical=KINDS, depth=st.integers(0, 4), n_trees=st.integers(1, 6))
def test_intervals_of_one_sum(seed, categorical, depth, n_trees):
    drawn = scene(seed, categorical=categorical, depth=depth, n_trees=n_trees)
    assert_nearest(drawn, interval(drawn.ensemble, np.random.default_rng(seed), 1))


@settings(max_examples=80, deadline=None)
@given(seed=SEEDS, vector=st.booleans(), largest=st.booleans(), most=st.sampled_from([None, 0, 1, 2]))
def test_several_sums_changes_and_the_largest_cost(seed, vector, largest, most):
    rng = np.random.default_rng(seed)
    drawn = scene(seed, outputs=3, vector=vector, n_trees=5, depth=3)
    wanted = interval(drawn.ensemble, rng, int(rng.integers(1, 4)))
    forbidden = rng.random((int(rng.integers(0, 3)), 4)) < 0.5
    forbidden = forbidden[forbidden.any(axis=1)]
    assert_nearest(drawn, wanted, largest=largest, most_changes=most, forbidden=forbidden)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, vector=st.booleans())
def test_a_softmax_probability(seed, vector):
    rng = np.random.default_rng(seed)
    drawn = scene(seed, outputs=3, vector=vector, n_trees=6, depth=3)
    share = rng.uniform(0.2, 0.8)
    matrix = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]])
    low = np.full(2, np.log(share / (1 - share)))
    wanted = Wanted(matrix, low, np.full(2, np.inf), (0.0, (1 - share) / share))
    assert_nearest(drawn, wanted)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_rows_that_are_refused_are_searched_around(seed):
    """A judge that sets single cells apart until a row is allowed, as relations between columns do."""
    rng = np.random.default_rng(seed)
    drawn = scene(seed, n_trees=3, depth=3)
    weights = rng.integers(-2, 3, size=4)

    def allowed(row):
        return bool(np.nansum(weights * row) <= 1.0)

    def judge(cells, left, _):
        if allowed(drawn.row(cells)):
            return Verdict(ACCEPT)
        widest = max(range(4), key=lambda j: len(left[j]))
        if len(left[widest]) == 1:
            return Verdict(PRUNE)
        cell = int(rng.choice(left[widest])) if rng.random() < 0.5 else -1
        return Verdict(SPLIT, widest, cell, bool(rng.random() < 0.5))

    assert_nearest(drawn, interval(drawn.ensemble, rng, 1), judge=judge, allowed=allowed)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_all_rows_with_the_same_leaves_are_refused_together(seed):
    """As where the model itself, rounding, does not confirm what its leaves add up to."""
    drawn = scene(seed, n_trees=3, depth=3)

    def odd(row):
        return int(np.round(drawn.predict(row).sum() * 1000)) % 2 == 1

    def judge(cells, _left, _sums):
        return Verdict(ACCEPT if odd(drawn.row(cells)) else REJECT)

    drawn_ends = interval(drawn.ensemble, np.random.default_rng(seed), 1)
    assert_nearest(drawn, replace(drawn_ends, matrix=np.ones((1, 1))), judge=judge, allowed=odd)


def test_a_search_that_is_ended_knows_a_bound_and_the_best_so_far():
    drawn = scene(3, n_features=6, most=8, n_trees=30, depth=5, categorical=0.2)
    sums = np.array([drawn.predict(drawn.row(drawn.cells(drawn.own)))[0]])
    wanted = Wanted(np.ones((1, 1)), sums + 4.0, np.array([np.inf]))
    whole = drawn.nearest(wanted)
    assert whole.proven
    assert whole.cost > 0
    bounds, best = [], []
    for looks in range(1, 6):
        left = iter(range(looks))
        part = drawn.nearest(wanted, go_on=lambda left=left: next(left, None) is not None, nodes_at_once=5)
        bounds.append(part.lower)
        best.append(part.cost)
        assert part.proven == (part.lower >= part.cost)
    assert np.all(np.array(bounds) <= whole.cost + 1e-9)
    assert np.all(np.array(best) >= whole.cost - 1e-9)
    assert bounds[-1] > 0
