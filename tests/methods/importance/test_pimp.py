"""p-values of permutation importance: uniform where there is nothing, honest where the importance is not."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer, InputError, load
from reference.refit_importance import p_value


def test_equals_the_definition():
    """The null models, fitted and asked by hand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + rng.normal(size=40)
    found = Explainer(LinearRegression().fit(X, y), X, y, checks=False).importance(scheme="pairs", p_values=19)
    fitted = []

    def fit(table, outcome):
        fitted.append((np.asarray(table), outcome))
        return LinearRegression().fit(table, outcome)

    def importance(table, outcome):
        model = LinearRegression().fit(table, outcome)
        return Explainer(model, table, outcome, checks=False).importance(scheme="pairs").values

    again = Explainer(LinearRegression().fit(X, y), X, y, checks=False).importance(
        scheme="pairs", p_values=19, refit=fit
    )
    null, beside = np.array([importance(*each) for each in fitted]).reshape(2, 19, 3)
    assert all(sorted(o) == sorted(y) and (o != y).any() for _, o in fitted[:19])
    # x0 stands out: the others come, together, from another row, beside it and y.
    assert all((table[:, 0] == X[:, 0]).all() and (o == y).all() for table, o in fitted[19:])
    assert all({*map(tuple, table[:, 1:])} == {*map(tuple, X[:, 1:])} for table, _ in fitted[19:])
    expected = [p_value(found.values[0], null[:, 0]), *(p_value(found.values[j], beside[:, j]) for j in (1, 2))]
    np.testing.assert_allclose(found.p_values, expected, rtol=1e-12)
    np.testing.assert_allclose(again.p_values, expected, rtol=1e-12)
    np.testing.assert_allclose(found.settings["null_mean"], null.mean(axis=0), rtol=1e-9)
    assert found.settings["refits"] == 38


def least_squares(X, y):
    slopes = np.linalg.lstsq(X, y, rcond=None)[0]
    return lambda Z: Z @ slopes


@pytest.mark.parametrize("folds", [None, 2])
def test_p_values_are_uniform_where_nothing_predicts(folds):
    # With R = 9 a p-value is one of 0.1, 0.2, ..., 1, each with probability 1/10.
    seen = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
        ex = Explainer(least_squares(X, y), X, y, checks=False, random_state=seed)
        seen.extend(ex.importance(p_values=9, repeats=2, folds=folds, refit=least_squares).p_values)
    counts = np.bincount(np.round(10 * np.array(seen)).astype(int), minlength=11)[1:]
    assert counts.sum() == 120
    # Twelve of each are expected; chi-squared with 9 degrees of freedom is below 27.9 in 999 of 1000 samples.
    assert np.square(counts - 12).sum() / 12 < 27.9
    assert 8 <= counts[:2].sum() <= 42


def test_many_values_look_important_and_are_not():
    # A forest that knows its rows by heart gives a continuous noise feature more importance than a weak binary signal.
    rng = np.random.default_rng(1)
    n = 150
    X = np.column_stack([rng.integers(0, 2, n), rng.normal(size=n), rng.integers(0, 2, n)])
    y = np.where(rng.random(n) < 0.25, 1 - X[:, 0], X[:, 0]).astype(int)
    model = RandomForestClassifier(20, random_state=0, max_features=None).fit(X, y)
    found = Explainer(model, X, y, feature_names=["signal", "many levels", "two levels"], checks=False).importance(
        loss="brier", p_values=19, repeats=3
    )
    p = dict(zip(found.feature_names, found.p_values, strict=True))
    null = dict(zip(found.feature_names, found.settings["null_mean"], strict=True))
    assert found.low[1] > 0.1  # the importance alone would call the noise important
    assert null["many levels"] > 2 * null["two levels"]  # because noise with many levels always looks so
    assert p["signal"] == pytest.approx(1 / 20)
    assert p["many levels"] > 0.2
    assert p["two levels"] > 0.1


def test_threads_do_not_change_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, X[:, 0])
    one, two = (Explainer(model, X, X[:, 0], n_jobs=jobs).importance(p_values=11, scheme="halves") for jobs in (1, 2))
    assert one.p_values.tobytes() == two.p_values.tobytes()
    assert one.settings == two.settings


def test_labels_groups_weights_and_ratio():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, "yes", "no")
    weights = np.where(np.arange(80) % 5 == 0, 0.0, 1.5)
    ex = Explainer(LogisticRegression().fit(X, y), X, y, groups={"rest": [1, 2]}, sample_weight=weights, checks=False)
    found = ex.importance(p_values=19, compare="ratio")
    assert found.feature_names == ("x0", "rest")
    assert found.p_values[0] == pytest.approx(1 / 20)
    assert found.p_values[1] > 0.05
    assert found.settings["weighted_fit"]


def test_a_feature_that_cannot_matter_is_never_significant():
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[:, 1] = 4.0  # no importance at all, given or under the null: all tied
    found = Explainer(LinearRegression().fit(X, X[:, 0]), X, X[:, 0], checks=False).importance(p_values=9)
    assert found.p_values.tolist() == [0.1, 1.0]


def test_rows_without_weight_keep_their_outcome():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20.0)
    weights = np.where(np.arange(20) < 10, 1.0, 0.0)
    seen = []

    def fit(table, outcome):
        seen.append(sorted(outcome))
        return LinearRegression().fit(table, outcome)

    Explainer(LinearRegression().fit(X, y), X, y, sample_weight=weights, checks=False).importance(p_values=3, refit=fit)
    assert seen == [list(range(10))] * len(seen)
    assert len(seen) >= 3


def test_an_interruption_keeps_the_refits_that_are_known():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + rng.normal(size=30)
    for options, stop, known in (({}, 6, 5), ({"folds": 2}, 2 + 2 * 3 + 1, 3)):
        calls = []

        def fit(table, outcome, calls=calls, stop=stop):
            calls.append(1)
            if len(calls) == stop:
                raise KeyboardInterrupt
            return LinearRegression().fit(table, outcome)

        found = Explainer(LinearRegression().fit(X, y), X, y).importance(p_values=50, refit=fit, **options)
        assert found.settings["p_values"] == known
        assert [caveat.code for caveat in found.caveats].count("partial") == 1
        assert (found.p_values >= 1 / (known + 1)).all()


def test_can_be_stored(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    found = Explainer(LinearRegression().fit(X, X[:, 0]), X, X[:, 0] + X[:, 1]).importance(p_values=5)
    loaded = load(found.save(tmp_path / "pimp.json"))
    assert loaded.p_values.tobytes() == found.p_values.tobytes()
    assert loaded.settings == found.settings


@pytest.mark.parametrize("wrong", [-1, 2.5])
def test_a_number_of_refits_that_is_none(wrong):
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(InputError, match=r"p_values must .*at least 1"):
        Explainer(LinearRegression().fit(X, X[:, 0]), X, X[:, 0]).importance(p_values=wrong)


def test_a_hundred_refits_unless_told():
    X = np.random.default_rng(0).normal(size=(12, 1))
    found = Explainer(LinearRegression().fit(X, X[:, 0]), X, X[:, 0], checks=False).importance(p_values=True, repeats=1)
    assert found.settings["p_values"] == 100
    assert found.p_values[0] == pytest.approx(1 / 101)


def test_y_is_needed():
    X = np.random.default_rng(0).normal(size=(12, 1))
    with pytest.raises(InputError, match="give y to the Explainer"):
        Explainer(LinearRegression().fit(X, X[:, 0]), X).importance(p_values=True)


@pytest.mark.parametrize("p_values", ["x", 2.5, np.nan, [1], -1])
def test_what_is_no_number_of_refits_is_refused(p_values):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match=r"p_values must .*at least 1"):
        Explainer(LinearRegression().fit(X, X[:, 0]), X, X[:, 0]).importance(p_values=p_values)
