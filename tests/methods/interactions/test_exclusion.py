"""Costs of exclusion: the estimator is exact where all draws are made, and near the truth where some are."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_files import masked
from pellucid import Explainer
from pellucid.methods.interactions import exclusion
from pellucid.methods.interactions.exclusion import with_own_draws
from pellucid.methods.interactions.request import Request
from reference.exclusion import cost, loss_without, variances
from strategies import QUICK

COEFFICIENTS = st.lists(st.integers(-4, 4), min_size=15, max_size=15)
SETS = [u for n in (1, 2, 3, 4) for u in combinations(range(4), n)]


def multilinear(coefficients):
    """sum_u c_u prod_{j in u} x_j."""

    def f(x):
        return sum(c * np.prod([x[..., j] for j in u], axis=0) for c, u in zip(coefficients, SETS, strict=True))

    return f


def every_pair(f):
    """f_w for all pairs of rows x and z of four signs, as the design asks for them."""
    rows = np.array(list(product((-1.0, 1.0), repeat=8)))
    x, z = rows[:, :4], rows[:, 4:]
    sets = [(), *SETS]
    return {u: f(np.where(np.isin(np.arange(4), u), z, x))[:, None] for u in sets}


@given(COEFFICIENTS)
@QUICK
def test_over_all_draws_costs_are_those_of_the_anova_components(coefficients):
    f = multilinear(coefficients)
    found = every_pair(f)
    scale = exclusion._Scale(found[()], found[0, 1, 2, 3])
    parts = variances(lambda point: float(f(np.array(point))), [(-1.0, 1.0)] * 4)
    n = 2 * len(found[()])
    for u in SETS[:-1]:
        share = scale.cost(exclusion._difference(found, u), 2 ** len(u)).share[0] * n / (n - 1)
        assert share == pytest.approx(cost(parts, u), abs=1e-9)


@given(COEFFICIENTS)
@QUICK
def test_over_all_draws_the_additive_loss_counts_every_component_once(coefficients):
    f = multilinear(coefficients)
    found = every_pair(f)
    scale = exclusion._Scale(found[()], found[0, 1, 2, 3])
    parts = variances(lambda point: float(f(np.array(point))), [(-1.0, 1.0)] * 4)
    pairs = SETS[4:10]
    n = 2 * len(found[()])
    lost = exclusion._additive(found, found[0, 1, 2, 3], [0, 1, 2, 3], pairs, scale)[0] * n / (n - 1)
    assert lost == pytest.approx(loss_without(parts, pairs), abs=1e-9)


def signs(n=200, p=4, seed=0):
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(n, p))


def costs(f, X, **options):
    result = Explainer(f, X, progress=False, **options).interactions(method="greenwell", rows=1000)
    return result, {part: k for k, part in enumerate(result.parts)}


def test_a_product_and_a_feature():
    X = np.random.default_rng(0).normal(size=(4000, 3))
    result, place = costs(lambda X: X[:, 0] * X[:, 1] + X[:, 2], X)
    expected = {("x0",): 0.5, ("x1",): 0.5, ("x2",): 0.5, ("x0", "x1"): 0.5, ("x0", "x2"): 0.0, ("x1", "x2"): 0.0}
    assert set(place) == set(expected)
    for part, share in expected.items():
        k = place[part]
        assert abs(result.costs[k] - share) <= 4 * result.cost_se[k]
    assert result.cost_of("x2", "x0") == 0
    assert result.additive[0] == pytest.approx(result.cost_of("x0", "x1"), rel=0.2)


def test_the_g_function():
    """f = prod (|4 x_j - 2| + a_j) / (1 + a_j), whose components have the variances prod 1 / (3 (1 + a_j)^2)."""
    a = np.array([0.0, 1.0, 4.5])
    X = (np.arange(3000)[:, None] + 0.5) / 3000 * np.ones(3)
    result, place = costs(lambda X: np.prod((np.abs(4 * X - 2) + a) / (1 + a), axis=1), X)
    alone = 1 / (3 * (1 + a) ** 2)
    total = np.prod(1 + alone) - 1
    for part, k in place.items():
        u = [int(name[1:]) for name in part]
        rest = [j for j in range(3) if j not in u]
        expected = np.prod(alone[u]) * np.prod(1 + alone[rest]) / total
        assert abs(result.costs[k] - expected) <= 4 * result.cost_se[k] + 1e-4
    assert ("x0", "x1", "x2") in place


def test_additive_models_cost_nothing_at_all():
    result, _ = costs(
        lambda X: 1e6 + np.exp(X[:, 0]) + X[:, 1] ** 2 - X[:, 2], np.random.default_rng(0).normal(size=(300, 3))
    )
    pairs = [k for k, part in enumerate(result.parts) if len(part) == 2]
    assert len(pairs) == 3
    np.testing.assert_array_equal(result.costs[pairs], 0)
    np.testing.assert_array_equal(result.additive, 0)


def test_a_constant_model_has_no_variance_to_lose():
    result, _ = costs(lambda X: np.full(len(X), 0.1), signs())
    np.testing.assert_array_equal(result.costs, 0)
    assert result.network().feature_names == ()


def test_weights_are_how_often_a_row_is_drawn():
    X = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [50.0, 50.0]])

    def f(X):
        return X[:, 0] * X[:, 1] + X[:, 0]

    result, _ = costs(f, X, sample_weight=[1, 1, 1, 1, 0])
    assert result.cost_of("x0", "x1") == pytest.approx(0.5, abs=0.1)
    assert result.cost_of("x0") == pytest.approx(1, abs=0.15)


def test_groups_are_swapped_as_one():
    X = signs()
    ex = Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], X, groups={"both": [0, 1]}, progress=False)
    result = ex.interactions(method="shap", rows=50)
    assert result.parts[0] == ("both",)
    assert result.cost_of("both", "x2") == 0
    assert result.cost_of("both") == pytest.approx(0.5, abs=0.1)
    assert "groups" in result.settings


def test_neither_the_order_of_columns_nor_other_features_change_the_draws():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))

    def f(X):
        return (X["a"] * X["b"] + X["c"]).to_numpy()

    one = Explainer(f, X, progress=False).interactions(method="greenwell")
    other = Explainer(f, X[["c", "b", "a"]], progress=False).interactions(method="greenwell")
    for part, share in zip(one.parts, one.costs, strict=True):
        assert other.cost_of(*part) == pytest.approx(share, rel=1e-12)


def test_only_what_is_asked_about_is_asked(golden):
    X = np.random.default_rng(0).normal(size=(100, 6))
    ex = Explainer(lambda X: X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3], X, progress=False)
    pair = ex.interactions((0, 1), method="greenwell")
    assert pair.parts == (("x0",), ("x1",), ("x0", "x1"))
    star = ex.interactions(0, method="greenwell")
    assert {part for part in star.parts if len(part) == 2} == {("x0", f"x{j}") for j in range(1, 6)}
    assert not star.additive.size
    assert "additive" not in star.network().text()
    golden("network", "pairs of one feature", masked(star.network().text()))


def test_the_most_promising_pairs_come_first_when_there_are_too_many(golden):
    X = np.random.default_rng(0).normal(size=(100, 6))
    ex = Explainer(lambda X: 5 * X[:, 0] * X[:, 1] + X[:, 2:] @ [0.1, 0.1, 0.1, 0.0], X, progress=False)
    players, sets = ex.data.schema.players(), tuple(combinations(range(6), 2))
    request = Request(ex.predictor, ex.data, None, players, sets, "pairs", True, False, 50, ex._run("costs"))
    result = with_own_draws(ex.interactions(method="greenwell", rows=50), request, most=400)
    network = result.network()
    assert ("x0", "x1") in result.parts
    assert (network.examined, network.possible) == (4 + 5, 15)  # four asked, five with a feature that does nothing
    assert np.isnan(network.additive)
    golden("network", "some pairs not examined", masked(network.text()))


def test_an_interruption_leaves_the_interactions_without_costs():
    X = np.random.default_rng(0).normal(size=(40, 2))
    done = Explainer(lambda X: X[:, 0] * X[:, 1], X, progress=False).interactions(method="greenwell")
    seen = {"rows": 0}

    def stopping(X):
        seen["rows"] += len(X)
        if seen["rows"] > done.cost.model_rows - 2000:
            raise KeyboardInterrupt
        return X[:, 0] * X[:, 1]

    result = Explainer(stopping, X, progress=False).interactions(method="greenwell")
    np.testing.assert_array_equal(result.values, done.values)
    assert result.parts == ()
    assert [caveat.code for caveat in result.caveats] == ["partial"]
    with pytest.raises(ValueError, match="no costs of exclusion"):
        result.network()
