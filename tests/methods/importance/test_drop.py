"""Drop-column importance: closed forms, a slow twin, and what the refits may and may not touch."""

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer, InputError, load
from reference.refit_importance import drop_importance


def sample(n=120, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=n)


def plain_fit(rows, y):
    """Least squares with an intercept, by the normal equations."""
    A = np.array([[1.0, *row] for row in rows])
    b = np.linalg.solve(A.T @ A, A.T @ np.array(y))
    return lambda row: float(b[0] + np.dot(b[1:], row))


def squared(y, p):
    return (y - p) ** 2


def absolute(y, p):
    return abs(y - p)


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n_folds=st.integers(2, 6),
    measure=st.sampled_from([("mse", squared), ("mae", absolute)]),
    compare=st.sampled_from(["difference", "ratio"]),
)
def test_equals_the_slow_twin(seed, n_folds, measure, compare):
    X, y = sample(41, 3, seed)
    fold = np.random.default_rng(seed).permutation(np.arange(41) % n_folds)
    name, loss = measure
    ex = Explainer(LinearRegression().fit(X, y), X, y, checks=False)
    found = ex.importance(method="drop", loss=name, compare=compare, folds=fold)
    expected = [drop_importance(plain_fit, loss, X.tolist(), y, fold, (j,), compare) for j in range(3)]
    np.testing.assert_allclose(found.values, expected, rtol=1e-8, atol=1e-10)
    assert found.repeats.shape == (3, n_folds)
    assert found.settings["refits"] == 4 * n_folds


def test_leaving_single_rows_out_is_the_press_formula():
    # One fold per row: the held-out residual of least squares is e_i / (1 - h_i), with the hat matrix of all rows.
    X, y = sample(30)

    def press(columns):
        A = np.column_stack([np.ones(30), X[:, columns]])
        hat = A @ np.linalg.inv(A.T @ A) @ A.T
        return np.square((y - hat @ y) / (1 - np.diag(hat)))

    ex = Explainer(LinearRegression().fit(X, y), X, y)
    found = ex.importance(method="drop", folds=30)
    for j in range(3):
        change = press([c for c in range(3) if c != j]) - press([0, 1, 2])
        assert found.values[j] == pytest.approx(change.mean(), rel=1e-9)
        assert found.se[j] == pytest.approx(change.std(ddof=1) / np.sqrt(30), rel=1e-9)
    assert found.baseline == pytest.approx(press([0, 1, 2]).mean(), rel=1e-9)


def test_converges_to_what_the_feature_adds():
    # Independent features: without x_j the error grows by beta_j^2; with correlation r by beta_j^2 (1 - r^2).
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = X @ [1.0, 0.5, 0.7] + rng.normal(size=6000)
    found = Explainer(LinearRegression().fit(X, y), X, y, checks=False).importance(method="drop")
    expected = np.array([1.0 * 0.36, 0.25 * 0.36, 0.49])
    assert (np.abs(found.values - expected) < 4 * found.se).all()
    assert (found.se < 0.03).all()
    assert (found.low < expected).all()
    assert (found.high > expected).all()


def test_a_loss_of_all_rows_together_is_compared_fold_by_fold():
    X, y = sample(60)
    fold = np.arange(60) % 4

    def rmse(columns):
        losses = []
        for k in range(4):
            inside, held = fold != k, fold == k
            f = LinearRegression().fit(X[inside][:, columns], y[inside])
            losses.append(np.sqrt(np.mean((y[held] - f.predict(X[held][:, columns])) ** 2)))
        return np.array(losses)

    found = Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop", loss="rmse", folds=fold.tolist())
    change = rmse([1, 2]) - rmse([0, 1, 2])
    np.testing.assert_allclose(found.repeats[0], change, rtol=1e-9)
    assert found.values[0] == pytest.approx(change.mean(), rel=1e-9)
    assert found.se[0] == pytest.approx(change.std(ddof=1) * np.sqrt(1 / 4 + 1 / 3), rel=1e-9)
    assert (found.high - found.values)[0] == pytest.approx(3.182446 * found.se[0], rel=1e-6)


@pytest.mark.parametrize("compare", ["difference", "ratio"])
@pytest.mark.parametrize("apart", [0.0, 3.0])
def test_the_error_is_the_larger_of_that_over_rows_and_that_over_folds(apart, compare):
    # Folds alike: the rows are the larger source; a feature that matters in some folds only: the folds are.
    X, y = sample(60, seed=5)
    fold = np.repeat([0, 1, 2], 20)
    y = y + apart * X[:, 0] * (fold == 2)

    def losses(columns):
        found = np.zeros(60)
        for k in range(3):
            inside, held = fold != k, fold == k
            f = LinearRegression().fit(X[inside][:, columns], y[inside])
            found[held] = (y[held] - f.predict(X[held][:, columns])) ** 2
        return found

    before, after = losses([0, 1, 2]), losses([1, 2])
    # The error of a ratio r = a / b is that of the mean of (a_i - r b_i) / b.
    ratio, scale = (after.mean() / before.mean(), before.mean()) if compare == "ratio" else (1.0, 1.0)
    change = (after - ratio * before) / scale
    of_folds = [change[fold == k].mean() for k in range(3)]
    both = [change.std(ddof=1) / np.sqrt(60), np.std(of_folds, ddof=1) / np.sqrt(3)]
    assert (both[1] > both[0]) == (apart > 0)
    found = Explainer(LinearRegression().fit(X, y), X, y, checks=False).importance(
        method="drop", folds=fold, compare=compare
    )
    assert found.se[0] == pytest.approx(max(both), rel=1e-9)
    assert found.high[0] - found.values[0] == pytest.approx(1.959964 * max(both), rel=1e-6)


def test_a_group_is_dropped_as_one():
    X, y = sample()
    ex = Explainer(LinearRegression().fit(X, y), X, y, groups={"both": [0, 2]}, checks=False)
    fold = np.arange(120) % 3
    found = ex.importance(method="drop", folds=fold)
    assert found.feature_names == ("both", "x1")
    expected = drop_importance(plain_fit, squared, X.tolist(), y, fold, (0, 2))
    assert found.values[0] == pytest.approx(expected, rel=1e-9)


def test_without_its_only_feature_a_model_predicts_the_mean():
    X, y = sample(50)
    X = X[:, :1]
    fold = np.arange(50) % 5
    found = Explainer(DecisionTreeRegressor(max_depth=2).fit(X, y), X, y).importance(
        method="drop", folds=fold, loss="mse"
    )
    constant = np.mean([np.mean((y[fold == k] - y[fold != k].mean()) ** 2) for k in range(5)])
    assert found.values[0] + found.baseline == pytest.approx(constant, rel=1e-12)
    assert found.settings["kept_constant"] == ["x0"]


def test_rows_without_weight_are_not_there():
    X, y = sample(80)
    weights = np.where(np.arange(80) % 4 == 0, 0.0, 1.0)
    X[weights == 0] += 50
    fold = np.arange(80) % 5
    here = weights > 0
    weighted = Explainer(LinearRegression().fit(X, y), X, y, sample_weight=weights).importance(
        method="drop", folds=fold
    )
    alone = Explainer(LinearRegression().fit(X, y), X[here], y[here]).importance(method="drop", folds=fold[here])
    np.testing.assert_allclose(weighted.values, alone.values, rtol=1e-9)
    np.testing.assert_allclose(weighted.se, alone.se, rtol=1e-9)


def test_weights_count_like_repeated_rows():
    X, y = sample(60)
    weights = np.where(np.arange(60) % 3 == 0, 3, 1)
    fold = np.arange(60) % 4
    model = LinearRegression().fit(X, y)
    found = Explainer(model, X, y, sample_weight=weights, checks=False).importance(method="drop", folds=fold)
    again = Explainer(model, np.repeat(X, weights, axis=0), np.repeat(y, weights), checks=False).importance(
        method="drop", folds=np.repeat(fold, weights)
    )
    np.testing.assert_allclose(found.values, again.values, rtol=1e-9)
    assert found.settings["weighted_fit"]


def test_classes_are_spread_evenly_over_the_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.array(["rare"] * 5 + ["mid"] * 15 + ["often"] * 40)
    seen = []

    def fit(table, labels):
        seen.append(np.unique(labels, return_counts=True)[1].tolist())
        return LogisticRegression().fit(table, labels)

    model = LogisticRegression().fit(X, y)
    found = Explainer(model, X, y, checks=False).importance(method="drop", refit=fit)
    assert found.output_names == ("mid", "often", "rare")
    assert seen == [[12, 32, 4]] * 15


def test_a_class_that_a_fold_lacks_has_no_probability_there():
    X = np.arange(12.0).reshape(-1, 1)
    y = np.array([0] * 6 + [1] * 5 + [2])
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    found = Explainer(model, X, y, checks=False).importance(method="drop", folds=4, loss="brier")
    assert np.isfinite(found.values).all()
    # The one row of class 2 is held out once, by a model that does not know it: wrong by 1 + the others' squares.
    assert found.baseline >= 1 / 12


def test_classifiers_with_names_categories_and_missing_values_in_a_pipeline():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "temp": np.where(rng.random(150) < 0.1, np.nan, rng.normal(size=150)),
            "sky": pd.Categorical(rng.choice(["clear", "fog", "rain"], 150)),
            "noise": rng.normal(size=150),
        }
    )
    y = np.where((table["sky"] == "rain") ^ (rng.random(150) < 0.1), "late", "on time")
    encode = make_column_transformer((OneHotEncoder(), ["sky"]), remainder="passthrough")
    model = make_pipeline(encode, RandomForestClassifier(30, random_state=0)).fit(table, y)
    before = table.copy()
    found = Explainer(model, table, y).importance(method="drop", loss="brier", folds=3)
    assert found.top(1) == ["sky"]
    assert found.settings["kept_constant"] == ["temp", "sky", "noise"]
    assert found.low[1] > 0.05
    pd.testing.assert_frame_equal(table, before)


def test_the_given_model_is_left_alone():
    X, y = sample(60)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    before = joblib.hash(model)
    Explainer(model, X, y).importance(method="drop", folds=2)
    assert joblib.hash(model) == before


def test_threads_and_processes_do_not_change_a_bit():
    X, y = sample(60)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    one = Explainer(model, X, y, n_jobs=1).importance(method="drop")
    two = Explainer(model, X, y, n_jobs=2).importance(method="drop")
    assert one.values.tobytes() == two.values.tobytes()
    assert one.se.tobytes() == two.se.tobytes()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        apart = Explainer(model, X, y).importance(method="drop", folds=2)
    here = Explainer(model, X, y).importance(method="drop", folds=2)
    np.testing.assert_allclose(apart.values, here.values, rtol=1e-10)  # a forest adds up its trees in any order


def test_a_model_without_a_seed_gives_the_same_again():
    X, y = sample(60)
    model = RandomForestRegressor(5).fit(X, y)
    ex = Explainer(model, X, y)
    first, second = ex.importance(method="drop", folds=2), ex.importance(method="drop", folds=2)
    assert first.values.tobytes() == second.values.tobytes()
    other = Explainer(model, X, y, random_state=1).importance(method="drop", folds=np.arange(60) % 2)
    same_folds = ex.importance(method="drop", folds=np.arange(60) % 2)
    assert other.values.tobytes() != same_folds.values.tobytes()


def test_a_constant_feature_has_no_importance():
    X, y = sample(60)
    X[:, 2] = 7.0
    found = Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop")
    assert found.values[2] == pytest.approx(0, abs=1e-12)


def test_progress_and_cost_count_every_refit():
    X, y = sample(50)
    seen = []
    found = Explainer(
        LinearRegression().fit(X, y), X, y, progress=lambda done, total: seen.append((done, total))
    ).importance(method="drop")
    assert seen[-1][0] == seen[-1][1]
    assert found.cost.model_rows == 50 + 4 * 50  # the given model, then every row once by each of four models
    assert found.settings["refits"] == 20


def test_an_interruption_keeps_the_folds_that_are_known():
    X, y = sample(50)
    calls = []

    def fit(table, outcome):
        calls.append(1)
        if len(calls) == 7:  # in the second fold, after the full model and one feature
            raise KeyboardInterrupt
        return LinearRegression().fit(table, outcome)

    fold = np.arange(50) % 5
    found = Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop", refit=fit, folds=fold)
    assert [caveat.code for caveat in found.caveats] == ["partial"]
    assert np.isfinite(found.repeats).sum(axis=1).tolist() == [2, 1, 1]
    whole = Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop", folds=fold)
    np.testing.assert_allclose(found.values[1], whole.repeats[1, 0], rtol=1e-12)
    np.testing.assert_allclose(found.values[0], whole.repeats[0, :2].mean(), rtol=1e-12)


def test_an_interruption_before_anything_is_known_is_raised():
    X, y = sample(50)

    def fit(table, outcome):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop", refit=fit)


def test_can_be_stored_and_drawn(tmp_path):
    X, y = sample(50)
    found = Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop")
    assert load(found.save(tmp_path / "drop.json")) == found
    assert found.plot().spec["$schema"]
    assert "5 folds" in found.text()


def error_of(match, ex, **options):
    with pytest.raises(InputError, match=match):
        ex.importance(method="drop", **options)


def test_what_cannot_be_done_is_refused_with_the_remedy():
    X, y = sample(20)
    model = LinearRegression().fit(X, y)
    error_of("give y", Explainer(model, X))
    error_of("function.* cannot be fitted again by itself; give refit=", Explainer(lambda X: X[:, 0], X, y))
    error_of("folds must be a whole number of at least 2, or one label per row, got 1", Explainer(model, X, y), folds=1)
    error_of("folds=25 needs at least 25 rows, but 20 count", Explainer(model, X, y), folds=25)
    error_of(r"folds= has shape \(3,\) but X has 20 rows", Explainer(model, X, y), folds=[0, 1, 2])
    error_of("puts every row into one fold", Explainer(model, X, y), folds=[0] * 20)
    error_of("compares with the truth; give a loss", Explainer(model, X, y), loss="variance")
    error_of("refit is an int; give a function", Explainer(model, X, y), refit=3)
    exact = Explainer(lambda X: X[:, 0], X, X[:, 0])
    error_of(
        "compare='ratio' divides by", exact, compare="ratio", refit=lambda X, y: lambda Z: 0 * Z[:, 0] + y[0],
        folds=np.arange(20) % 2, loss=lambda y, p: 0.0,
    )  # fmt: skip


def test_an_interruption_of_a_check_keeps_the_values():
    """The first refit after those of the values belongs to the joint drop of the cluster."""
    X = np.repeat(np.random.default_rng(0).normal(size=(60, 1)), 2, axis=1)
    y, fits = X[:, 0], []

    def fit(X, y):
        fits.append(1)
        if len(fits) > 2 * 3:
            raise KeyboardInterrupt
        return LinearRegression().fit(X, y)

    found = Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop", refit=fit, folds=2)
    assert len(fits) == 7
    assert np.isfinite(found.values).all()
    assert "shared-importance" not in {caveat.code for caveat in found.caveats}
