"""Decomposition by partial dependence: its definition, its sums, and what is known of it in closed form."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from limits import limited
from pellucid import Explainer, InputError
from pellucid.methods.decomposition import marginal
from pellucid.methods.decomposition.estimation import tree_cells
from pellucid.methods.decomposition.estimation.components import at_rows
from reference.decomposition import marginal_component


def table(n=60, p=3, values=4, seed=0):
    """Dependent features with few values."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, p)).astype(float)
    X[:, -1] = np.where(rng.random(n) < 0.5, X[:, 0], X[:, -1])
    return X


def lookup(seed, p=3, values=4):
    """Any function at all of features with few values."""
    entries = np.random.default_rng(seed).normal(size=(values,) * p)
    return lambda X: entries[tuple(np.asarray(X, dtype=int).T)]


def explained(f, X, **options):
    return Explainer(f, X, progress=False, checks=False, **options)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), weighted=st.booleans(), order=st.integers(1, 3))
def test_equals_the_definition(seed, weighted, order):
    X, f = table(12, 3, 3, seed), lookup(seed, 3, 3)
    weights = np.random.default_rng(seed).random(len(X)) if weighted else np.ones(len(X))
    found = explained(f, X, sample_weight=weights).decompose(order=order)
    rows = X.tolist()
    one = lambda row: float(f(np.array([row]))[0])  # noqa: E731
    for component in found.components:
        own = tuple(int(name[1:]) for name in component.features)
        for row in rows[:4]:
            expected = marginal_component(one, rows, weights.tolist(), own, row)
            assert component.at([np.array([row[j]]) for j in own])[0, 0] == pytest.approx(expected, abs=1e-10)
    assert found.constant == pytest.approx(np.average(f(X), weights=weights))


@pytest.mark.parametrize("seed", range(5))
def test_all_components_add_up_to_the_function(seed):
    X, f = table(seed=seed), lookup(seed)
    found = explained(f, X).decompose(order=3)
    np.testing.assert_allclose(found.predict(X), f(X), atol=1e-10)
    assert found.r2 == pytest.approx(1, abs=1e-12)
    assert found.residual == pytest.approx(0, abs=1e-12)
    # Where components overlap, covariances with the function add up although variances do not.
    assert found.covariance.sum() == pytest.approx(1, abs=1e-10)
    assert abs(found.values.sum() - 1) > 0.01


def test_partial_dependence_curves_do_not_add_up_but_components_do():
    X = np.array(list(itertools.product(range(3), range(3))), dtype=float)
    f = lambda X: X[:, 0] * X[:, 1]  # noqa: E731
    ex = explained(f, X)
    curves = ex.pdp(0).values[X[:, 0].astype(int)] + ex.pdp(1).values[X[:, 1].astype(int)]
    assert np.abs(curves - curves.mean() + f(X).mean() - f(X)).max() == pytest.approx(1)
    np.testing.assert_allclose(ex.decompose().predict(X), f(X), atol=1e-12)


def test_a_linear_model_comes_out_as_its_own_terms():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    X["c"] += X["a"]
    model = LinearRegression().fit(X, X @ [1.0, -2.0, 0.5])
    found = explained(model, X).decompose(order=2)
    for name, slope in zip("abc", model.coef_, strict=True):
        component = found.component(name)
        expected = slope * (component.axes[0].points - X[name].mean())
        np.testing.assert_allclose(component.table[:, 0], expected, atol=1e-10)
    pairs = [c for c in found.components if len(c.features) == 2]
    assert max(np.abs(c.table).max() for c in pairs) < 1e-10
    assert found.r2 == pytest.approx(1)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_shapley_values_share_every_interaction_equally(seed):
    X, f = table(20, 3, 3, seed), lookup(seed, 3, 3)
    ex = explained(f, X)
    found, shap = ex.decompose(order=3), ex.shap(range(5), method="exact")
    parts = found.explain(X[:5])
    for j in range(3):
        mine = [k for k, names in enumerate(found.sets) if f"x{j}" in names]
        shares = parts.values[:, mine] / [len(found.sets[k]) for k in mine]
        np.testing.assert_allclose(shares.sum(axis=1), shap.values[:, j], atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_permuting_a_feature_destroys_every_component_that_contains_it(seed):
    X = np.array(list(itertools.product(range(3), repeat=3)), dtype=float)
    f = lookup(seed, 3, 3)
    ex = Explainer(f, X, f(X), progress=False, checks=False)
    found = ex.decompose(order=3)
    importance = ex.importance(scheme="pairs", loss="mse")
    for j in range(3):
        mine = [k for k, names in enumerate(found.sets) if f"x{j}" in names]
        lost = 2 * found.values[mine].sum() * found.variance
        assert importance.values[j] == pytest.approx(lost * len(X) / (len(X) - 1))


# -- trees -------------------------------------------------------------------------------------------


def scene(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.integers(0, 9, n), "d": rng.random(n)})
    y = np.sin(2 * X["a"]) + X["b"] * X["c"] / 5 + (X["d"] > 0.5) * X["a"] * X["b"]
    return X, y


def boosted(library, depth):
    if library == "sklearn":
        return GradientBoostingRegressor(max_depth=depth, n_estimators=12, random_state=0)
    if library == "xgboost":
        return pytest.importorskip("xgboost").XGBRegressor(max_depth=depth, n_estimators=12, n_jobs=1)
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMRegressor(
        max_depth=depth, num_leaves=2**depth, n_estimators=12, n_jobs=1, min_child_samples=5, verbose=-1
    )


@pytest.mark.parametrize("method", ["marginal", "anova"])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("library", ["sklearn", "xgboost", "lightgbm"])
def test_order_d_is_complete_for_trees_of_depth_d(library, depth, method):
    X, y = scene()
    model = boosted(library, depth).fit(X, y)
    found = explained(model, X).decompose(method=method, order=depth)
    assert found.settings["engine"] == "trees"
    assert found.settings["thinned"] is None
    assert found.residual < 1e-9
    assert 1 - found.r2 < 1e-9
    # Components are exact between the rows too, anywhere in the range of the data.
    rng = np.random.default_rng(1)
    new = X.sample(50, replace=True, random_state=2)
    new = new.assign(**{name: rng.uniform(X[name].min(), X[name].max(), 50) for name in "abd"})
    np.testing.assert_allclose(found.predict(new), model.predict(new), rtol=1e-5, atol=1e-5)
    if depth > 1:
        assert explained(model, X).decompose(method=method, order=depth - 1).residual > 1e-4


def test_reading_the_trees_and_asking_the_model_agree():
    X, y = scene(80)
    model = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    read, asked = (limited(explained(model, X), worth_components=worth).decompose() for worth in (0, np.inf))
    assert read.cost.model_rows < asked.cost.model_rows
    np.testing.assert_allclose(read.values, asked.values, atol=1e-12)
    for mine, theirs in zip(read.components, asked.components, strict=True):
        np.testing.assert_allclose(mine.table, theirs.table, atol=1e-10)


def test_trees_that_see_transformed_features_are_exact_at_the_rows():
    X, y = scene(120)
    model = make_pipeline(StandardScaler(), GradientBoostingRegressor(max_depth=2, n_estimators=10))
    found = explained(model.fit(X, y), X).decompose()
    assert found.settings["engine"] == "trees"
    assert found.residual < 1e-9


def test_a_pair_that_no_tree_asks_of_together_is_zero():
    X, y = scene()
    model = GradientBoostingRegressor(max_depth=1, n_estimators=10).fit(X, y)
    found = explained(model, X).decompose()
    assert found.component("b", "a").table.shape == (1, 1, 1)
    assert found.values[found.position("a", "b")] == 0


def test_too_many_cells_are_merged_and_the_loss_is_told():
    X, y = scene(150)
    ex = Explainer(RandomForestRegressor(8, random_state=0).fit(X, y), X, progress=False)
    run = ex._run("parts")
    cells = tree_cells.tree_cells(ex.predictor, ex.data, run)
    wanted = [subset for size in (1, 2) for subset in itertools.combinations(range(X.shape[1]), size)]
    exact, found = (marginal._of_trees(cells, None, wanted, None, run, cells=most) for most in (10**6, 600))
    assert sum(c.table.size for c in found.components if len(c.features) > 1) < 600
    assert found.settings["thinned"] in tree_cells._CUTS
    rows = ex.data.take(np.linspace(0, 149, 100).astype(int))
    said = [sum(at_rows(c, rows) for c in parts.components) for parts in (exact, found)]
    assert found.lost == pytest.approx(np.mean((said[0] - said[1]) ** 2) / found.variances.total, rel=0.1)
    assert (found.variances.residual > exact.variances.residual).all()
    assert exact.lost == 0


def test_probabilities_of_classes_add_up():
    X, y = scene(90)
    model = RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, np.digitize(y, [-0.5, 0.5]))
    found = explained(model, X).decompose(order=3)
    assert found.values.shape == (14, 3)
    np.testing.assert_allclose(found.predict(X), model.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(found.constant.sum(), 1)
    for component in found.components:
        np.testing.assert_allclose(component.table.sum(axis=-1), 0, atol=1e-12)
    assert {"component", "order", "output", "share", "se", "covariance"} == set(found.frame().columns)


# -- tables of all kinds -----------------------------------------------------------------------------


def test_missing_values_and_categories_have_places_of_their_own():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=80), "kind": rng.choice(["p", "q", "r"], 80)})
    X.loc[::7, "x"] = np.nan

    def f(X):
        return X["x"].fillna(9.0).to_numpy() + 2.0 * (X["kind"] == "q").to_numpy() * X["x"].isna().to_numpy()

    found = explained(f, X).decompose(grid=100)
    np.testing.assert_allclose(found.predict(X), f(X), atol=1e-10)
    gone = pd.DataFrame({"x": [np.nan], "kind": ["q"]})
    assert found.predict(gone)[0] == pytest.approx(11)
    assert found.component("x").axes[0].labels[-1] == "missing"
    with pytest.raises(InputError, match="'s'"):
        found.predict(gone.assign(kind="s"))
    with pytest.raises(InputError, match="'kind' is missing in row 0"):
        found.predict(gone.assign(kind=None))


def test_some_features_leave_the_rest_to_the_residual():
    X, f = table(), lookup(3)
    ex = explained(f, X)
    whole, some = ex.decompose(), ex.decompose(features=["x2", 0])
    assert some.feature_names == ("x0", "x2", "x0 × x2")
    for component in some.components:
        np.testing.assert_allclose(component.table, whole.component(*component.features).table, atol=1e-12)
    assert some.residual > whole.residual
    grouped = Explainer(f, X, groups={"ends": [0, 2]}, progress=False, checks=False)
    assert grouped.decompose(features="ends").feature_names == some.feature_names


def test_a_background_of_ones_own():
    X, f = table(), lookup(4)
    found = explained(f, X, background=X[:5]).decompose(order=3)
    assert found.constant == pytest.approx(f(X[:5]).mean())
    np.testing.assert_allclose(found.predict(X), f(X), atol=1e-10)


def test_large_tables_are_averaged_over_a_sample_with_errors():
    X = np.random.default_rng(0).normal(size=(900, 2))
    f = lambda X: X[:, 0] * (1 + X[:, 1])  # noqa: E731
    ex = explained(f, X)
    found = ex.decompose(grid=100)
    assert found.settings["background"] == 200
    share = X[:, 0].var() / f(X).var()
    assert found.values[0] == pytest.approx(share, abs=5 * found.se[0] + 0.01)
    assert (found.se > 0).all()
    assert found.values.tobytes() == ex.decompose(grid=100).values.tobytes()
    other = Explainer(f, X, progress=False, checks=False, random_state=7).decompose(grid=100)
    assert other.values[0] != found.values[0]


def test_a_constant_prediction_has_nothing_to_take_apart(golden):
    found = Explainer(lambda X: np.full(len(X), 3.0), table(), progress=False).decompose()
    assert not found.values.any()
    assert found.constant == 3
    assert found.r2 == 1
    golden("decomposition", "a constant prediction", found.text())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order must be"),
        ({"order": True}, "order must be"),
        ({"order": 4}, r"order=4 is not offered: 3 features have 2\^3 = 8 components"),
        ({"method": "anove"}, "did you mean 'anova'"),
        ({"density": "rows"}, "density='rows' is not known"),
        ({"density": "uniform"}, "density='uniform' belongs to method='generalized'"),
        ({"features": []}, r"features=\[\] names no feature"),
        ({"features": ["x0", 0]}, "feature 'x0' is given twice in features="),
        ({"features": ["x9"]}, "there is no feature 'x9'"),
        ({"grid": 1}, "grid must be"),
        ({"grid": 1, "method": "anova"}, "grid must be"),
    ],
)
def test_what_cannot_be_asked(options, message):
    with pytest.raises(InputError, match=message):
        explained(lookup(0), table()).decompose(**options)


def test_absurd_costs_are_refused_before_the_model_is_asked():
    X = np.random.default_rng(0).normal(size=(300, 60))
    calls = []

    def f(X):
        calls.append(len(X))
        return X[:, 0]

    ex = explained(f, X)
    asked = len(calls)
    with pytest.raises(InputError, match=r"36,050 components; give fewer features \(features=\[...\]\)"):
        ex.decompose(order=3)
    with pytest.raises(InputError, match=r"[\d,]+ rows; give fewer features"):
        ex.decompose(grid=40)
    assert len(calls) == asked


@pytest.mark.parametrize(("cut", "n"), [(2.0, 1000), (1.0, 60), (0.0, 300)])
def test_a_jump_is_found_between_two_rows(cut, n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    found = Explainer(lambda X: (X[:, 0] > cut) * 1.0, X).decompose(order=1)
    assert found.values == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert found.r2 == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("f", [np.square, np.exp, lambda x: np.sin(6 * x), lambda x: np.sin(30 * x), np.round])
def test_what_lines_between_points_miss_is_in_the_error(f):
    """Alone, a feature has all of the variance: its share is 1, up to the error that is said."""
    X = np.random.default_rng(1).normal(size=(400, 2))
    found = Explainer(lambda X: f(X[:, 0]), X).decompose(order=1)
    assert abs(found.values[0] - 1.0) <= found.se[0] + 1e-12
    assert found.se[0] < 0.1


def test_a_grid_of_ones_own_is_the_one_used():
    X = np.random.default_rng(1).normal(size=(400, 2))
    found = Explainer(lambda X: (X[:, 0] > 1) * 1.0, X).decompose(order=1, grid=8)
    assert len(found.components[0].axes[0].points) == 8


def test_jumps_of_several_outputs_with_a_sample_to_average_over():
    X = np.random.default_rng(0).normal(size=(900, 3))
    model = lambda X: np.column_stack([X[:, 0] > 1.2, X[:, 1] ** 2]) * 1.0  # noqa: E731
    found = Explainer(model, X, background=50).decompose(order=1)
    np.testing.assert_allclose(found.values, [[1, 0], [0, 1], [0, 0]], atol=1e-3)
    assert (found.se[0] <= 1e-12).any()
    assert (np.abs(found.values - [[1, 0], [0, 1], [0, 0]]) <= found.se + 1e-12).all()
