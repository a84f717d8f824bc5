"""Functional ANOVA: the definition, the axioms and closed forms, for each of the three ways to integrate."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from pellucid import Explainer
from pellucid.methods.decomposition.estimation import anova_trees, tree_cells
from reference.decomposition import anova_component, product_rows, variance


def explained(f, X, **options):
    return Explainer(f, X, progress=False, checks=False, **options)


def corners(low, high, p):
    """Rows that span a cube."""
    return np.array(list(itertools.product((low, high), repeat=p)), dtype=float)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_categories_and_whole_numbers_equal_the_definition(seed):
    rng = np.random.default_rng(seed)
    entries = rng.normal(size=(3, 4, 2))
    X = pd.DataFrame(
        {"kind": rng.choice(["p", "q", "r"], 30), "n": rng.integers(0, 4, 30), "flag": rng.random(30) < 0.3}
    )
    X.loc[:2, "kind"] = ["p", "q", "r"]
    X.loc[:3, "n"] = range(4)
    X.loc[:1, "flag"] = [True, False]

    def f(X):
        kind = np.array(["pqr".index(value) for value in X["kind"]])
        return entries[kind, X["n"].to_numpy(int), X["flag"].to_numpy(int)]

    found = explained(f, X).decompose(method="anova", order=3)
    axes = [[(k, 1 / size) for k in range(size)] for size in entries.shape]
    one = lambda row: float(entries[tuple(map(int, row))])  # noqa: E731
    for component in found.components:
        own = tuple(["kind", "n", "flag"].index(name) for name in component.features)
        for entry in itertools.product(*(range(entries.shape[j]) for j in own)):
            point = [0, 0, 0]
            for j, value in zip(own, entry, strict=True):
                point[j] = value
            assert component.table[entry][0] == pytest.approx(anova_component(one, axes, own, point), abs=1e-10)
    assert found.variance == pytest.approx(variance([one(row) for row in product_rows(axes)[0]], [1] * 24))
    assert found.values.sum() == pytest.approx(1)
    assert found.residual == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found.predict(X), f(X), atol=1e-10)


def test_ishigami():
    a, b = 7.0, 0.1

    def f(X):
        return np.sin(X[:, 0]) + a * np.sin(X[:, 1]) ** 2 + b * X[:, 2] ** 4 * np.sin(X[:, 0])

    first = 0.5 * (1 + b * np.pi**4 / 5) ** 2
    second, interaction = a**2 / 8, b**2 * np.pi**8 * 8 / 225
    total = first + second + interaction
    found = explained(f, corners(-np.pi, np.pi, 3)).decompose(method="anova")
    assert found.variance == pytest.approx(total)
    shares = dict(zip(found.feature_names, found.values, strict=True))
    assert shares["x0"] == pytest.approx(first / total)
    assert shares["x1"] == pytest.approx(second / total)
    assert shares["x0 × x2"] == pytest.approx(interaction / total)
    assert found.values[found.position("x2")] == pytest.approx(0, abs=1e-12)
    assert (found.se < 1e-4).all()
    assert all(check.holds and check.value < 1e-9 for check in found.checks)


def g_function(X, a):
    return np.prod((np.abs(4 * X - 2) + a) / (1 + a), axis=1)


def test_a_sample_comes_near_the_shares_of_the_g_function():
    a = np.array([0.0, 1.0, 4.5, 9.0, 99.0, 99.0])
    V = 1 / 3 / (1 + a) ** 2
    X = np.random.default_rng(0).random((64, 6))
    X[0], X[1] = 0, 1
    found = explained(lambda X: g_function(X, a), X).decompose(method="anova")
    assert found.settings["engine"] == "sample"
    total = np.prod(1 + V) - 1
    for names, share, se in zip(found.sets, found.values, found.se, strict=True):
        expected = np.prod([V[int(name[1:])] for name in names]) / total
        assert share == pytest.approx(expected, abs=3 * se + 0.015)
    assert [check.name for check in found.checks] == ["zero means", "orthogonality", "variance sum"]
    assert all(check.holds for check in found.checks)
    assert found.checks[0].value < 1e-12
    assert found.constant == pytest.approx(1, abs=0.01)


def test_shares_of_a_sample_are_as_good_as_the_components():
    """Order 2 is complete here, so nothing of the variance needs to be left to chance."""
    X = np.random.default_rng(0).random((64, 7))
    X[0], X[1] = 0, 1
    found = explained(lambda X: np.exp(3 * X[:, 0]) * X[:, 1] + X[:, 2:].sum(axis=1) ** 2, X).decompose(method="anova")
    assert found.settings["engine"] == "sample"
    # m = E exp(3u), s = E exp(6u); with v = u - 1/2 the square is 6.25 + 5 sum v_j + sum v_j^2 + 2 sum v_j v_k
    m, s = (np.exp(3) - 1) / 3, (np.exp(6) - 1) / 6
    one, two = (s - m**2) / 4, m**2 / 12
    each, pair = 25 / 12 + 1 / 180, 4 / 144  # of 5 v + v^2 and of 2 v_j v_k
    total = one + two + (s - m**2) / 12 + 5 * each + 10 * pair
    assert found.variance == pytest.approx(total, rel=0.004)
    shares = dict(zip(found.feature_names, found.values, strict=True))
    assert shares["x0"] == pytest.approx(one / total, abs=0.003)
    assert shares["x4"] == pytest.approx(each / total, abs=0.003)
    assert found.values.sum() + found.residual == pytest.approx(1, abs=0.004)
    assert "overlap" not in found.text()


@pytest.mark.parametrize("value", [0.1, 5.0, 1e12])
@pytest.mark.parametrize("p", [3, 7])
@pytest.mark.parametrize("method", ["anova", "marginal", "generalized", "ale"])
def test_rounding_is_no_variance(value, p, method):
    X = np.random.default_rng(0).normal(size=(150, p))
    found = Explainer(lambda X: np.full(len(X), value), X, progress=False).decompose(method=method)
    assert all(check.holds for check in found.checks)
    assert found.variance == 0
    assert not found.values.any()
    assert not found.se.any()
    assert "noisy-shares" not in {caveat.code for caveat in found.caveats}
    assert "everywhere" in found.text()


def test_rows_that_crowd_where_equally_likely_values_are_rare_are_told_apart():
    """Most rows lie near zero, where the components of the whole range hardly look."""
    X = np.random.default_rng(0).random((300, 3)) ** 12
    X[0], X[1] = 0, 1
    ex = Explainer(lambda X: X.sum(axis=1) ** 0.25, X, progress=False)
    found = ex.decompose(method="anova", order=1)
    (caveat,) = [caveat for caveat in found.caveats if caveat.code == "left-over"]
    assert found.residual < 0.1
    assert found.r2 < 0.7
    assert "Over equally likely values only" in caveat.message
    assert "generalized" in caveat.advice


def test_a_sample_and_the_product_agree():
    X = corners(-1, 1, 3)
    f = lambda X: X[:, 0] * (1 + X[:, 1]) + X[:, 2] ** 2 * X[:, 0]  # noqa: E731
    exact = explained(f, X).decompose(method="anova", order=2)
    found = explained(f, X).decompose(method="anova", order=2, grid=50)  # 125,000 combinations are too many
    assert (exact.settings["engine"], found.settings["engine"]) == ("product", "sample")
    np.testing.assert_allclose(found.values, exact.values, atol=0.01)
    new = np.random.default_rng(0).uniform(-1, 1, (100, 3))
    np.testing.assert_allclose(found.predict(new), exact.predict(new), atol=0.06)
    assert found.residual == pytest.approx(0, abs=0.01)


def test_order_of_columns_does_not_change_a_sample():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((50, 3)), columns=["a", "b", "c"])
    f = lambda X: (X["a"] * X["b"] + X["c"]).to_numpy()  # noqa: E731
    found = explained(f, X).decompose(method="anova", grid=50)
    other = explained(f, X[["c", "a", "b"]]).decompose(method="anova", grid=50)
    assert found.settings["engine"] == "sample"
    for names, share in zip(found.sets, found.values, strict=True):
        assert other.values[other.position(*names)] == pytest.approx(share, rel=1e-9)


# -- trees -------------------------------------------------------------------------------------------


def trees(n=60, **options):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=n), rng.random(n), rng.integers(0, 4, n)])
    y = X[:, 0] * X[:, 1] + (X[:, 2] > 1) * X[:, 0]
    options = {"max_depth": 3, "n_estimators": 4, "random_state": 0, **options}
    return GradientBoostingRegressor(**options).fit(X, y), X


def cell_axes(model, X):
    """Of every feature, the middles of the cells between all thresholds of the trees, with their widths."""
    axes = []
    for j in range(X.shape[1]):
        cuts = {
            t
            for tree in model.estimators_.ravel()
            for t, feature in zip(tree.tree_.threshold, tree.tree_.feature, strict=True)
            if feature == j and X[:, j].min() <= t < X[:, j].max()
        }
        edges = [X[:, j].min(), *sorted(cuts), X[:, j].max()]
        width = edges[-1] - edges[0]
        axes.append([((a + b) / 2, (b - a) / width) for a, b in itertools.pairwise(edges)])
    return axes


def test_trees_equal_the_definition():
    model, X = trees()
    found = explained(model, X).decompose(method="anova", order=3)
    axes = cell_axes(model, X)
    rows, weights = product_rows(axes)
    f = dict(zip(map(tuple, rows), model.predict(np.array(rows)), strict=True))
    one = lambda row: f[tuple(row)]  # noqa: E731
    assert found.variance == pytest.approx(variance(list(f.values()), weights), rel=1e-6)
    assert found.constant == pytest.approx(np.average(list(f.values()), weights=weights))
    for row in [rows[k] for k in (0, 7, -3)]:
        for component in found.components:
            own = tuple(int(name[1:]) for name in component.features)
            at = component.at([np.array([row[j]]) for j in own])[0, 0]
            assert at == pytest.approx(anova_component(one, axes, own, row), abs=1e-6)
    assert found.values.sum() == pytest.approx(1)
    assert found.checks[0].value < 1e-12


def test_trees_and_the_same_model_as_a_black_box_agree():
    model, X = trees()
    exact = explained(model, X).decompose(method="anova")
    asked = explained(lambda X: 1.0 * model.predict(X), X).decompose(method="anova")
    assert (exact.settings["engine"], asked.settings["engine"]) == ("trees", "product")
    # Quadrature of steps is rough; its error says so.
    apart = np.abs(exact.values - asked.values)
    assert (apart <= 5 * asked.se + 0.02).all()
    assert asked.se.max() > 1e-4


def of_leaves(model, X, **limits):
    """The components that the trees give, of all pairs, and the Explainer."""
    ex = explained(model, X)
    run = ex._run("parts")
    cells = tree_cells.tree_cells(ex.predictor, ex.data, run)
    wanted = [subset for size in (1, 2) for subset in itertools.combinations(range(X.shape[1]), size)]
    return anova_trees.of_trees(cells, wanted, None, run, **limits), ex


def test_variance_over_pairs_of_leaves_and_over_points_agree():
    model, X = trees()
    exact, sampled = (of_leaves(model, X, paired=paired)[0].variances.total for paired in (10**9, 0))
    assert sampled == pytest.approx(exact, rel=0.02)
    assert (sampled != exact).all()


def test_leaves_in_blocks_are_the_same_leaves():
    model, X = trees()
    ex = explained(model, X)
    cells = tree_cells.tree_cells(ex.predictor, ex.data, ex._run("parts"))
    (whole,) = anova_trees._blocks(cells, {})
    parts = list(anova_trees._blocks(cells, {}, 3))
    assert len(parts) > 5
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), whole.values)
    assert [part.place.start for part in parts] == list(range(0, len(whole.values), 3))


def test_merged_cells_are_means_and_the_loss_is_told():
    X = np.random.default_rng(0).normal(size=(150, 3))
    model = RandomForestRegressor(6, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    (exact, _), (found, _) = of_leaves(model, X), of_leaves(model, X, cells=500)
    assert found.settings["thinned"] in tree_cells._CUTS
    # A mean over cells is a projection: nothing but variance is lost, and the axioms hold as before.
    lost = exact.variances.parts.sum() - found.variances.parts.sum()
    assert found.lost * exact.variances.total == pytest.approx(lost, rel=0.3)
    assert found.variances.residual - exact.variances.residual == pytest.approx(lost, rel=1e-6)
    assert all(check.holds for check in found.checks)
    assert found.checks[0].value < 1e-12


def test_missing_values_have_a_value_but_no_share():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(60), "z": rng.random(60)})
    X.loc[::5, "x"] = np.nan
    f = lambda X: X["x"].fillna(100.0).to_numpy() + X["z"].to_numpy()  # noqa: E731
    found = explained(f, X).decompose(method="anova")
    low, high = X["x"].min(), X["x"].max()
    middle = (X["z"].min() + X["z"].max()) / 2 + (low + high) / 2
    assert found.constant == pytest.approx(middle)
    assert found.component("x").table[-1, 0] == pytest.approx(100 - (low + high) / 2)
    np.testing.assert_allclose(found.predict(X), f(X), atol=1e-9)
    assert found.values.sum() == pytest.approx(1)
