"""Greenwell's strength equals its slow twin, and is nothing for additive models."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.ensemble import GradientBoostingRegressor

import pellucid
from limits import limited
from pellucid import Explainer
from pellucid.methods.interactions.greenwell import grid_points
from reference.greenwell import strength
from strategies import QUICK, bent, tables


@given(tables(most=12))
@QUICK
def test_equals_the_slow_twin(table):
    explainer = table.explainer(bent)
    if len(table.rows) < 2 or np.count_nonzero(np.array(table.mass) > 0) < 2:
        return
    result = explainer.interactions(method="greenwell", normalize=False, rows=100)
    data = explainer.data
    for (one, other), value in zip(result.sets, result.values, strict=True):
        pair = data.schema.index(one), data.schema.index(other)
        points = [grid_points(data, j).tolist() for j in pair]
        nominal = [data.schema.features[j].nominal for j in pair]
        expected = strength(bent, table.rows, table.mass, pair, points, nominal) if min(map(len, points)) > 1 else 0.0
        assert value == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_a_product_in_closed_form():
    """PD = a b: the importance of the one at b is sd(a) |b|."""
    X = np.column_stack([np.tile([1.0, 2.0, 3.0], 4), np.repeat([1.0, 2.0, 5.0, 6.0], 3)])
    ex = Explainer(lambda X: X[:, 0] * X[:, 1], X, progress=False)
    a, b = np.std([1, 2, 3], ddof=1), np.std([1, 2, 5, 6], ddof=1)
    plain = ex.interactions(method="greenwell", normalize=False)
    assert plain.pair("x0", "x1") == pytest.approx(a * b)
    assert plain.normalized is False
    shared = ex.interactions(method="greenwell")
    assert shared.pair("x1", "x0") == pytest.approx(a * b / np.std(X[:, 0] * X[:, 1]))
    np.testing.assert_array_equal(shared.strength, plain.strength)


def test_categories_use_a_quarter_of_the_range():
    X = pd.DataFrame({"kind": ["p", "q", "r"] * 4, "x": np.repeat([0.0, 1.0, 2.0, 3.0], 3)})
    slope = {"p": 1.0, "q": 2.0, "r": 5.0}
    ex = Explainer(lambda X: X["kind"].map(slope).to_numpy() * X["x"].to_numpy(), X, progress=False)
    of_kind = np.std([x * (5 - 1) / 4 for x in range(4)], ddof=1)
    of_x = np.std([np.std(np.arange(4), ddof=1) * s for s in slope.values()], ddof=1)
    assert ex.interactions(method="greenwell", normalize=False).values[0] == pytest.approx((of_kind + of_x) / 2)


def test_nothing_in_an_additive_model(golden):
    X = np.random.default_rng(0).normal(size=(80, 3))
    result = Explainer(lambda X: 1e5 + np.exp(X).sum(axis=1), X, progress=False).interactions(method="greenwell")
    np.testing.assert_array_equal(result.values, 0)
    golden("interactions", "pairs of an additive model, by the size of effects", result.text())


def test_it_misses_what_only_turns_an_effect_round():
    X = np.column_stack([np.tile([-1.0, 1.0], 20), np.repeat([-1.0, 1.0], 20)])
    result = Explainer(lambda X: X[:, 0] * X[:, 1], X, progress=False).interactions(method="greenwell")
    assert result.values[0] == 0
    assert result.cost_of("x0", "x1") == pytest.approx(1, abs=0.1)


def test_trees_and_asking_give_the_same():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, X[:, 0] * X[:, 1])
    asked = Explainer(model, X, progress=False).interactions(method="greenwell")
    read = limited(Explainer(model, X, progress=False), worth_trees=0).interactions(method="greenwell")
    np.testing.assert_allclose(read.values, asked.values, rtol=1e-9)
    assert read.cost.model_rows < asked.cost.model_rows


def test_standard_errors_shrink_with_rows_and_cover_the_truth():
    rng = np.random.default_rng(0)
    everything = rng.normal(size=(4000, 3))

    def f(X):
        return X[:, 0] * X[:, 1] * (X[:, 2] + 2)

    truth = Explainer(f, everything, progress=False).interactions((0, 1), method="greenwell", normalize=False)
    apart, errors = [], {}
    for n in (50, 400):
        one = [
            Explainer(f, everything, progress=False, random_state=s).interactions(
                (0, 1), method="greenwell", normalize=False, rows=n
            )
            for s in range(12)
        ]
        errors[n] = np.mean([r.se[0] for r in one])
        apart += [abs(r.values[0] - truth.values[0]) / r.se[0] for r in one]
    assert errors[400] < 0.6 * errors[50]
    assert np.mean(np.array(apart) < 2.3) > 0.75


def test_groups_are_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    ex = Explainer(lambda X: X[:, 0], X, groups={"g": [0, 1]}, progress=False)
    with pytest.raises(pellucid.InputError, match="group 'g'; use method='h'"):
        ex.interactions(method="greenwell")


def test_the_most_frequent_categories_and_not_more():
    levels = [f"level {i:02}" for i in range(24)]
    X = pd.DataFrame({"kind": [*levels, *levels[3:-1]]})
    X["x"] = np.arange(float(len(X)))
    ex = Explainer(lambda X: X["x"].to_numpy(), X, progress=False)
    assert ex.data.schema.features[0].decode(grid_points(ex.data, 0)).tolist() == levels[3:-1]


def test_rows_that_do_not_count_do_not_stretch_the_grid():
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 2)), [[90.0, 90.0]]])

    def f(X):
        return X[:, 0] * X[:, 1]

    weighted = Explainer(f, X, sample_weight=[1] * 30 + [0], progress=False).interactions(method="greenwell")
    without = Explainer(f, X[:30], progress=False).interactions(method="greenwell")
    np.testing.assert_allclose(weighted.values, without.values, rtol=1e-12)
