"""Certificates of the nearest row, checked by a mixed-integer program that knows nothing of cells and boxes."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from pellucid.trees.cells import find_boxes
from pellucid.trees.convert import convert
from pellucid.trees.nearest import Nearest, Wanted
from reference.nearest_milp import nearest_by_program


@pytest.fixture(scope="module")
def boosted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)).round(2)
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3]
    model = GradientBoostingRegressor(n_estimators=15, max_depth=3, random_state=0).fit(X, y)
    return X, convert(model).ensemble


@pytest.mark.parametrize("row", range(4))
def test_highs_finds_the_same_cost(boosted, row):
    X, ensemble = boosted
    boxes = find_boxes(ensemble, np.arange(5), [None] * 5)
    x, now = X[row], float(ensemble.predict(X[[row]])[0, 0])
    costs, own = [], []
    for j, player in enumerate(boxes.players):
        edges = player.thresholds
        inside = np.clip(x[j], np.append(-np.inf, edges), np.append(edges, np.inf))  # the nearest place of each cell
        costs.append(np.append(np.abs(inside - x[j]), np.inf))
        own.append(int(player.cell(x[[j]])[0]))
    low, high = now + (0.5, 0.4, -0.8, 0.7)[row], now + (0.9, np.inf, -0.5, 0.8)[row]
    found = Nearest(boxes, costs, np.array(own), Wanted(np.ones((1, 1)), np.array([low]), np.array([high]))).run()
    thresholds = [player.thresholds for player in boxes.players]
    expected = nearest_by_program(ensemble, thresholds, [cost[:-1] for cost in costs], low, high)
    assert found.proven
    assert np.isfinite(expected)
    assert found.cost == pytest.approx(expected, abs=1e-6)
