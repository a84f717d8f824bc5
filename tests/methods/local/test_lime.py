"""What local models are: theorems and closed forms."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid
from golden_files import masked
from methods.local.asking import explain, line, table, waves
from pellucid import Explainer
from pellucid.explanations.attribution_words import labels_of
from pellucid.explanations.local_attribution import LocalAttribution
from reference.lime import weighted_line

SLOPES = (2.0, -1.0, 0.5, 0.0)


@pytest.mark.parametrize("sampler", ["data", "gaussian", "around", "correlated"])
@pytest.mark.parametrize("distance", ["euclidean", "gower", "cosine"])
def test_a_linear_model_gets_its_coefficients(sampler, distance):
    found = explain(line(SLOPES), table(), [0, 5], samples=400, sampler=sampler, distance=distance)
    np.testing.assert_allclose(found.weights, [SLOPES, SLOPES], atol=1e-9)
    np.testing.assert_allclose(found.local_prediction, found.prediction, rtol=1e-10)
    np.testing.assert_allclose(found.fidelity, 1.0)
    assert found.selected[0] == ("x0", "x1", "x2") or set(found.selected[0]) == {"x0", "x1", "x2"}


@given(
    st.lists(st.integers(-20, 20).map(lambda n: n / 4), min_size=3, max_size=3),
    st.sampled_from(["forward", "backward", "lasso", "all"]),
)
@settings(max_examples=25, deadline=None)
def test_effects_of_a_linear_model_are_slope_times_distance_from_the_average_sample(slopes, select):
    X = table(200, 3)
    found = explain(line(slopes), X, 7, samples=2000, features=3, select=select)
    scale = np.abs(slopes) * X.std(axis=0)
    expected = np.array(slopes) * (X[7] - X.mean(axis=0))
    assert (np.abs(found.values[0] - expected) <= 0.01 * scale + 1e-9).all()  # the margins are sampled evenly
    assert found.bases[0] + found.values[0].sum() == pytest.approx(found.local_prediction[0])


@pytest.mark.parametrize("row", [0, 1, 2])
def test_near_a_smooth_model_the_weights_are_its_gradient(row):
    X = np.random.default_rng(1).normal(size=(200, 2))
    found = explain(lambda X: np.exp(X[:, 0]) * np.cos(X[:, 1]), X, row, sampler="around", width=0.15, samples=20_000)
    a, b = X[row]
    gradient = [np.exp(a) * np.cos(b), -np.exp(a) * np.sin(b)]
    np.testing.assert_allclose(found.weights[0], gradient, atol=0.05)
    assert found.fidelity[0] > 0.98
    assert np.abs(found.residual[0]) < 0.03


def test_at_zero_is_weight_times_value_and_adds_up_to_the_same():
    X = pd.DataFrame({"temp": [10.0, 20.0, 30.0] * 40, "season": ["a", "b"] * 60})
    found = explain(lambda X: 2 * X["temp"] + 5 * (X["season"] == "a"), X, 1)
    zero = found.at_zero()
    np.testing.assert_allclose(zero.values[0], [2 * 20.0, -5.0], rtol=1e-9)
    np.testing.assert_allclose(zero.bases, 5.0, rtol=1e-9)  # of the other season at temp 0
    np.testing.assert_allclose(zero.local_prediction, found.local_prediction)
    np.testing.assert_allclose(zero.weights, found.weights)


@pytest.mark.parametrize("sampler", ["data", "around"])
def test_a_unit_changes_weights_but_not_effects(sampler):
    X = np.random.default_rng(0).normal(size=(200, 3))
    one = explain(waves, X, 3, sampler=sampler, width=1.5)
    other = explain(lambda Z: waves(Z / [1, 10, 1]), X * [1, 10, 1], 3, sampler=sampler, width=1.5)
    if sampler == "around":  # the same random numbers
        np.testing.assert_allclose(other.weights * [1, 10, 1], one.weights, atol=0.3)
    assert abs(other.weights[0, 1] * 10 - one.weights[0, 1]) < 6 * one.weights_se[0, 1] + 1e-9


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("select", ["forward", "backward", "lasso"])
def test_exactly_k_features_are_chosen(k, select):
    X = np.random.default_rng(0).normal(size=(300, 6))
    found = explain(
        lambda X: np.sin(X).sum(axis=1) + X[:, 0] * X[:, 1], X, [0, 1], features=k, select=select, samples=1000
    )
    assert ((found.weights != 0).sum(axis=1) == k).all()
    assert all(len(names) == k for names in found.selected)


def test_the_lasso_shrinks_and_the_ridge_a_little():
    X = table()
    plain, ridge, lasso = (
        explain(waves, X, 0, model=model, width=2.0, features=2) for model in ("linear", "ridge", "lasso")
    )
    size = [float(np.abs(one.weights * one.scales).sum()) for one in (plain, ridge, lasso)]
    assert size[2] < size[1] < size[0]
    assert size[1] > 0.95 * size[0]


def test_the_fit_is_the_weighted_line_of_its_samples():
    """Against least squares on the same samples, which the model saw."""
    X, seen = table(200, 3), []

    def model(Z):
        seen.append(np.array(Z))
        return waves(Z)

    found = explain(model, X, 4, samples=400, width=1.3)
    Z = max(seen, key=len)
    scale = X.std(axis=0)
    apart = (Z - X[4]) / scale
    weights = np.exp(-np.square(apart).sum(axis=1) / 1.3**2)
    theta = weighted_line(apart, waves(Z), weights)
    np.testing.assert_allclose(found.weights[0], theta[1:] / scale, rtol=1e-8)
    assert found.local_prediction[0] == pytest.approx(theta[0], rel=1e-9)
    assert found.effective[0] == pytest.approx(weights.sum() ** 2 / np.square(weights).sum())
    np.testing.assert_allclose(found.bases[0], theta[0] + apart.mean(axis=0) @ theta[1:], rtol=1e-9)


def test_standard_errors_are_the_spread_over_seeds():
    X = np.random.default_rng(0).normal(size=(300, 3))
    runs = [explain(waves, X, 2, samples=1000, width=1.5, explainer={"random_state": seed}) for seed in range(40)]
    spread = np.std([one.weights[0] for one in runs], axis=0)
    claimed = np.mean([one.weights_se[0] for one in runs], axis=0)
    assert (claimed / spread > 0.7).all()
    assert (claimed / spread < 1.5).all()
    spread = np.std([one.values[0] for one in runs], axis=0)
    claimed = np.mean([one.se[0] for one in runs], axis=0)
    assert (claimed / spread > 0.6).all()
    assert (claimed / spread < 1.6).all()


def test_what_effects_are_compared_with_was_drawn_too():
    """The weights of a straight line are known exactly, the mean of the samples is not."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    runs = [
        Explainer(lambda X: 3 * X[:, 0] - X[:, 1], X, checks=False, random_state=seed).lime(
            0, select="all", samples=400, width=1.0
        )
        for seed in range(25)
    ]
    np.testing.assert_allclose([one.weights_se for one in runs], 0.0, atol=1e-9)
    truth = np.std([one.values[0] for one in runs], axis=0, ddof=1)
    claimed = np.mean([one.se[0] for one in runs], axis=0)
    assert (claimed / truth > 0.6).all()
    assert (claimed / truth < 1.6).all()


def test_rows_share_their_samples():
    X = table()
    one, many = (explain(waves, X, rows, samples=1000, features=2) for rows in ([0], range(10)))
    assert one.cost.model_rows <= 1000 + 1 + 2 * 22
    assert many.cost.model_rows <= 1000 + 10 + 10 * 2 * 22
    np.testing.assert_array_equal(many.weights[0], one.weights[0])
    assert explain(waves, X, range(10), samples=1000, sampler="around").cost.model_rows > 10_000


def test_same_seed_same_bytes_and_another_seed_not():
    X = table()
    one, same, other = (explain(waves, X, 0, explainer={"random_state": seed}) for seed in (1, 1, 2))
    assert one.values.tobytes() == same.values.tobytes()
    assert one.values.tobytes() != other.values.tobytes()


# -- kinds of features ---------------------------------------------------------------------------------


def test_categories_stay_categories_and_integers_integers():
    X = pd.DataFrame({"n": np.arange(60) % 7, "c": pd.Categorical(["u", "v", "w"] * 20), "b": [True, False] * 30})

    def model(Z):
        assert Z["c"].dtype == X["c"].dtype
        assert Z["n"].dtype == X["n"].dtype
        assert Z["b"].dtype == X["b"].dtype
        assert Z["n"].between(0, 6).all()
        return Z["n"] + 3.0 * (Z["c"] == "v") - 2.0 * Z["b"]

    for sampler in ("data", "gaussian", "around", "correlated"):
        found = explain(model, X, 1, samples=400, sampler=sampler)
        np.testing.assert_allclose(found.weights[0], [1.0, 3.0, 2.0], atol=1e-9)  # being v; being False
        assert labels_of(found, 0) == ["n = 1", "c = v", "b = no"]


def test_a_date_has_a_weight_per_day():
    X = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=100), "x": np.arange(100.0) % 9})
    found = explain(lambda Z: 2.0 * (Z["day"] - pd.Timestamp("2024-01-01")).dt.days + Z["x"], X, 3)
    np.testing.assert_allclose(found.weights[0], [2.0, 1.0], rtol=1e-6)


def test_a_value_that_the_row_lacks_is_missing_or_not_by_a_coin():
    X = pd.DataFrame({"a": [np.nan, *np.arange(99.0)], "b": np.arange(100.0) % 10})
    lacking = []

    def model(Z):
        lacking.append(float(Z["a"].isna().mean()))
        return Z["a"].isna() * 4.0 + Z["b"]

    found = explain(model, X, 0, samples=1000)
    assert 0.4 < lacking[-2] < 0.6
    np.testing.assert_allclose(found.weights[0], [4.0, 1.0], atol=1e-9)
    assert found.label(0, 0) == "a = missing"
    lacking.clear()
    known = explain(model, X, 5, samples=1000)
    assert max(lacking[2:]) == 0.0  # a row that knows it is compared with rows that know it
    assert known.weights[0, 0] == 0.0


def test_groups_get_the_sum_of_their_members():
    X = table(200, 4)
    names = {"explainer": {"feature_names": list("abcd"), "groups": {"both": ["a", "c"]}}}
    found = explain(line([2.0, -1.0, 0.5, 1.0]), X, 3, **names)
    alone = explain(line([2.0, -1.0, 0.5, 1.0]), X, 3, explainer={"feature_names": list("abcd")})
    assert found.feature_names == ("both", "b", "d")
    assert found.terms == ("a", "b", "c", "d")
    np.testing.assert_allclose(found.values[0], [alone.values[0, [0, 2]].sum(), *alone.values[0, [1, 3]]])
    assert np.isnan(found.frame()["weight"][0])
    assert found.at_zero().values[0, 0] == pytest.approx(2.0 * X[3, 0] + 0.5 * X[3, 2])


def test_several_outputs_have_local_models_of_their_own():
    X = table(200, 3)
    found = explain(lambda X: np.column_stack([X[:, 0], -X[:, 1], X @ [1, 1, 1]]), X, [0, 1], features=1)
    assert found.values.shape == (2, 3, 3)
    assert found.fidelity.shape == (2, 3)
    np.testing.assert_allclose(found.weights[:, 0, 0], 1.0)
    np.testing.assert_allclose(found.weights[:, 1, 1], -1.0)
    one = found.for_output(found.output_names[1])
    assert one.weights.shape == (2, 3)
    assert one.ranges.shape == (2, 3, 2)


def test_the_other_of_two_classes_is_the_mirror_image():
    X = pd.DataFrame(table(200, 2), columns=["a", "b"])

    class Two:
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, Z):
            p = 1 / (1 + np.exp(-(np.asarray(Z)[:, 0])))
            return np.column_stack([1 - p, p])

        def predict(self, Z):
            return self.classes_[(np.asarray(Z)[:, 0] > 0).astype(int)]

        def fit(self, X, y):
            return self

    found = explain(Two(), X, 0)
    other = found.for_output("no")
    np.testing.assert_allclose(other.weights, -found.weights)
    np.testing.assert_allclose(other.local_prediction, 1 - found.local_prediction)
    np.testing.assert_allclose(other.residual, -found.residual)


# -- bins and columns of one's own ------------------------------------------------------------------------


def test_bins_say_whether_a_sample_is_in_the_rows_bin(golden):
    X = pd.DataFrame({"a": np.linspace(0, 100, 401), "b": np.tile([1.0, 2.0], 201)[:401]})
    found = explain(lambda Z: 10.0 * ((Z["a"] > 20) & (Z["a"] <= 60)), X, 100, space={"a": [20, 60]})
    assert found.weights[0, 0] == pytest.approx(10.0)
    assert found.label(0, 0) == "20 < a ≤ 60"
    assert found.conditions == (("20 < a ≤ 60", ""),)
    assert found.values[0, 0] == pytest.approx(10 * (1 - 0.4), abs=0.05)
    golden("local", "bins of one's own", masked(found.text()))
    assert "20 < a ≤ 60" in found.text()
    ends = explain(lambda Z: Z["a"], X, [0, 400], space={"a": [20, 60]})
    assert [line[0] for line in ends.conditions] == ["a ≤ 20", "a > 60"]


@pytest.mark.parametrize(("space", "bins"), [("quartile", 4), ("decile", 10)])
def test_quantile_bins(space, bins):
    X = np.arange(1000.0)[:, None] * [1, 1]
    found = explain(lambda Z: (Z[:, 0] >= 1000 - 1000 / bins) * 1.0, X, 999, space=space)
    assert found.weights[0, 0] == pytest.approx(1.0)
    assert found.conditions[0][0].startswith("x0 >")


def test_entropy_bins_find_the_steps_of_the_model():
    X = np.random.default_rng(0).uniform(0, 1, size=(500, 2))
    found = explain(lambda Z: np.digitize(Z[:, 0], [0.3, 0.7]) ** 2.0, X, {"x0": 0.5, "x1": 0.5}, space="entropy")
    low, high = (float(part) for part in found.conditions[0][0].replace("≤", "<").split("<")[::2])
    assert (low, high) == (pytest.approx(0.3, abs=0.01), pytest.approx(0.7, abs=0.01))


def test_columns_of_the_callers_own():
    X = table(300, 3)

    def sums(Z):
        return pd.DataFrame({"sum": np.asarray(Z).sum(axis=1), "gap": Z[:, 0] - Z[:, 1]})

    found = explain(lambda Z: 3.0 * Z.sum(axis=1), X, 0, space=sums)
    assert found.feature_names == found.terms == ("sum", "gap")
    np.testing.assert_allclose(found.weights[0], [3.0, 0.0], atol=1e-8)
    assert found.data[0][0] == pytest.approx(X[0].sum())
    with pytest.raises(pellucid.InputError, match="space= gave 1 rows for 300"):
        explain(waves, X, 0, space=lambda Z: np.asarray(Z)[:1])


# -- other local models -----------------------------------------------------------------------------------


def test_a_logistic_model_of_a_logistic_regression_is_that_regression():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=list("abc"))
    slopes = np.array([1.5, -2.0, 0.0])

    def model(Z):
        return 1 / (1 + np.exp(-(np.asarray(Z) @ slopes + 0.5)))

    class Probabilities:
        classes_ = np.array([0, 1])

        def predict_proba(self, Z):
            return np.column_stack([1 - model(Z), model(Z)])

        def predict(self, Z):
            return (model(Z) > 0.5).astype(int)

        def fit(self, X, y):
            return self

    found = explain(Probabilities(), X, 3, model="logistic")
    assert found.scale == "log-odds"
    np.testing.assert_allclose(found.weights[0], slopes, atol=1e-4)
    assert found.prediction[0] == pytest.approx(X.iloc[3] @ slopes + 0.5)
    assert found.local_prediction[0] == pytest.approx(found.prediction[0], abs=1e-4)
    assert found.fidelity[0] > 0.9999
    with pytest.raises(pellucid.InputError, match="model='logistic' imitates probabilities"):
        explain(waves, table(), 0, model="logistic")


def test_a_tree_of_one_split_finds_the_step():
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
    found = explain(
        lambda Z: 5.0 * (Z[:, 1] > 0.25), X, {"x0": 0.0, "x1": 0.5, "x2": 0.0}, model="tree", features=1, width=50.0
    )
    assert found.selected == (("x1",),)
    assert found.local_prediction[0] == pytest.approx(5.0, abs=1e-9)
    assert found.bases[0] == pytest.approx(5 * np.mean(X[:, 1] > 0.25), abs=0.05)
    assert found.fidelity[0] > 0.98


# -- Shapley's kernel -------------------------------------------------------------------------------------


def together(X):
    return np.column_stack([X[:, 0] * X[:, 1] + np.sin(X[:, 2]), X[:, 3] ** 2 * X[:, 0]])


@pytest.mark.parametrize("groups", [None, {"g": ["x1", "x3"]}])
def test_with_shapleys_kernel_the_weights_are_shapley_values(groups, golden):
    X = np.random.default_rng(0).normal(size=(60, 4))
    ex = Explainer(together, X, groups=groups, checks=False)
    exact = ex.shap([0, 1, 2], method="exact")
    found = explain(together, X, [0, 1, 2], kernel="shap", explainer={"groups": groups})
    np.testing.assert_allclose(found.values, exact.values, atol=1e-9)
    np.testing.assert_allclose(found.base, exact.base)
    np.testing.assert_allclose(found.residual, 0, atol=1e-9)
    assert (found.se == 0).all()
    golden("local", "Shapley's kernel" + ", groups" * bool(groups), masked(found.text()))


def test_some_coalitions_come_close_with_errors_that_say_how_close():
    X = np.random.default_rng(0).normal(size=(40, 10))

    def model(X):
        return np.tanh(X).sum(axis=1) + X[:, 0] * X[:, 1] * X[:, 2]

    exact = Explainer(model, X, checks=False).shap(0, method="exact").values
    found = explain(model, X, 0, kernel="shap", samples=600, features=10)
    assert not found.settings["all_coalitions"]
    assert np.abs(found.values - exact).max() < 5 * found.se.max()
    assert np.sqrt(np.square((found.values - exact) / found.se).mean()) < 2.5
    assert found.values.sum() == pytest.approx((found.prediction - found.base)[0])


def test_sparse_weights_of_shapleys_kernel_still_add_up():
    X = np.random.default_rng(0).normal(size=(60, 4))
    found = explain(together, X, 0, kernel="shap", features=2)
    assert ((found.values != 0).sum(axis=1) == 2).all()
    np.testing.assert_allclose(found.residual, 0, atol=1e-9)


# -- the result --------------------------------------------------------------------------------------------


def test_parts_and_views_keep_together():
    X = table(200, 4)
    found = explain(waves, X, [0, 1, 2], features=3)
    one = found.row(1)
    assert isinstance(one, LocalAttribution)
    assert one.local_prediction[0] == found.local_prediction[1]
    assert one.base == found.bases[1]
    assert one.width == found.width[1]
    fewer = found.sparse(1)
    np.testing.assert_allclose(fewer.local_prediction, found.local_prediction)
    grouped = found.group({"pair": ["x1", "x2"]})
    np.testing.assert_allclose(grouped.values.sum(axis=1), found.values.sum(axis=1))
    with pytest.raises(pellucid.InputError, match=r"use shap\(rows\)\.contrast\(1\)"):
        found.contrast(1)
    assert list(found.frame().columns) == ["row", "feature", "value", "contribution", "se", "weight"]


def test_the_width_search_is_a_table_with_one_chosen_width_per_row():
    found = explain(waves, table(200, 4), [0, 1])
    swept = found.width_search.frame()
    assert swept.groupby("row")["chosen"].sum().tolist() == [1, 1]
    assert (swept.groupby("row")["width"].apply(lambda w: w.is_monotonic_increasing)).all()
    chosen = swept[swept["chosen"]]
    np.testing.assert_allclose(chosen["fidelity"], found.fidelity)
    np.testing.assert_allclose(chosen["stability"], found.stability)
    np.testing.assert_allclose(chosen["effective"], found.effective)


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "shap"}, {"model": "tree", "samples": 200}, {"boundary": ("x0", "x1"), "samples": 200}]
)
def test_saving_and_loading(options, tmp_path):
    found = explain(waves, table(100, 3), 0, checks=True, **options)
    loaded = pellucid.load(found.save(tmp_path / "local.json"))
    assert loaded == found
    assert loaded.text() == found.text()


def test_text_says_what_it_predicts_how_well_and_how_far():
    X = np.random.default_rng(0).normal(size=(300, 2))
    text = explain(lambda Z: 2 * Z[:, 0], X, 0).text()
    assert "the local model gives" in text
    assert "x0 = 0.126 contributed" in text
    assert "explains 100% of the variation" in text
    assert "stays within ±" in text
    assert "kernel width" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": 0}, "features must be"),
        ({"samples": 10}, "at least 100"),
        ({"width": -1}, "width must be"),
        ({"width": "wide"}, "width must be"),
        ({"sampler": "dta"}, "did you mean 'data'"),
        ({"distance": "manhattan"}, "known are 'euclidean'"),
        ({"kernel": "shapley"}, "did you mean 'shap'"),
        ({"model": "forest"}, "model='forest' is not known"),
        ({"select": "foward"}, "did you mean 'forward'"),
        ({"space": "quartiles"}, "did you mean 'quartile'"),
        ({"space": {"x9": "raw"}}, "there is no feature 'x9'"),
        ({"space": {"x0": [3, 1]}}, "do not ascend"),
        ({"tolerance": 2}, "tolerance must be"),
        ({"boundary": "x0"}, "give two different numeric features"),
        ({"kernel": "shap", "model": "tree"}, "kernel='shap' is for linear local models"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(options, words):
    with pytest.raises(pellucid.InputError, match=words):
        explain(waves, table(), 0, **options)


def test_a_boundary_is_of_one_row():
    with pytest.raises(pellucid.InputError, match="one row, not of 2"):
        explain(waves, table(), [0, 1], boundary=("x0", "x1"))


def test_the_width_search_goes_along_with_rows_and_outputs(tmp_path):
    def two(X):
        return np.column_stack([waves(X), X[:, 0]])

    found = explain(two, table(), [0, 1])
    tried = found.width_search
    assert tried.weights.shape == (*tried.widths.shape, len(found.terms), 2)
    one = found.row(1).for_output(found.output_names[1])
    np.testing.assert_array_equal(one.width_search.near, tried.near[1:, :, 1])
    np.testing.assert_array_equal(one.width_search.chosen, found.width[1:])
    assert one.width_search.output_names == (found.output_names[1],)
    assert "output" not in one.width_search.frame()
    assert set(tried.frame()["output"]) == set(found.output_names)
    again = pellucid.load(found.save(tmp_path / "found.json"))
    np.testing.assert_array_equal(again.width_search.weights, tried.weights)
    assert again == found
