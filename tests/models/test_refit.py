"""Fitting again gives what a user would get by cloning and fitting by hand, and never touches the given model."""

from __future__ import annotations

import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pellucid.data import Data
from pellucid.errors import InputError, ModelError
from pellucid.models import Predictor
from pellucid.models.clone import cloned
from pellucid.models.refit import Reduction, refitter
from pellucid.runner import Run
from pellucid.runner.parallel import in_parallel
from versions import needs

ROWS = np.arange(0, 150, 2)


def bind(model: Any, X: Any, y: Any, **options: Any) -> tuple[Predictor, Data]:
    predictor = Predictor(model, X, labels=y, **options)
    return predictor, Data.of(X, y, container=predictor.container)


def full(predictor: Predictor, data: Data) -> np.ndarray:
    return Run().predict(predictor, data, full=True)


def two_columns(p: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - p, p])


# -- the same as by hand ----------------------------------------------------------------------------


def test_a_regressor(mixed, amount):
    X = mixed[["temp", "day"]].fillna(0.0)
    model = LinearRegression().fit(X, amount)
    predictor, data = bind(model, X, amount)
    again = refitter(predictor, data)(ROWS)
    by_hand = LinearRegression().fit(X.iloc[ROWS], amount[ROWS])
    np.testing.assert_array_equal(full(again.predictor, data)[:, 0], by_hand.predict(X))
    assert not again.constant


def test_a_column_less(mixed, amount):
    X = mixed[["temp", "day", "open"]].fillna(0.0)
    predictor, data = bind(LinearRegression().fit(X, amount), X, amount)
    again = refitter(predictor, data)(ROWS, without=(1,))
    kept = X[["temp", "open"]]
    by_hand = LinearRegression().fit(kept.iloc[ROWS], amount[ROWS])
    np.testing.assert_array_equal(full(again.predictor, data)[:, 0], by_hand.predict(kept))
    assert not again.constant


def test_another_outcome(mixed, verdict):
    X = mixed[["temp", "day"]].fillna(0.0)
    predictor, data = bind(LogisticRegression().fit(X, verdict), X, verdict)
    order = np.random.default_rng(0).permutation(150)
    again = refitter(predictor, data)(ROWS, order=order)
    by_hand = LogisticRegression().fit(X.iloc[ROWS], verdict[order][ROWS])
    np.testing.assert_array_equal(full(again.predictor, data), by_hand.predict_proba(X))


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy", "arrow"])
def test_every_kind_of_table(kind, mixed, amount):
    X = mixed[["temp", "day", "open"]].fillna(0.0).astype(float)
    table = {
        "pandas": lambda: X,
        "polars": lambda: pytest.importorskip("polars").from_pandas(X),
        "numpy": X.to_numpy,
        "arrow": lambda: pytest.importorskip("pyarrow").Table.from_pandas(X),
    }[kind]()
    named = X if kind != "numpy" else table
    tree = DecisionTreeRegressor(max_depth=4, random_state=0)
    predictor, data = bind(clone(tree).fit(named, amount), table, amount)
    again = refitter(predictor, data)(ROWS, without=(0,))
    kept = X[["day", "open"]].to_numpy()
    np.testing.assert_array_equal(
        full(again.predictor, data)[:, 0], clone(tree).fit(kept[ROWS], amount[ROWS]).predict(kept)
    )


def test_columns_in_another_order_and_more_than_the_model_knows(mixed, amount):
    X = mixed[["temp", "day", "open"]].fillna(0.0)
    model = LinearRegression().fit(X[["open", "temp"]], amount)
    predictor, data = bind(model, X, amount)
    by_hand = LinearRegression().fit(X[["temp"]].iloc[ROWS], amount[ROWS])
    again = refitter(predictor, data)(ROWS, without=(2,))
    np.testing.assert_array_equal(full(again.predictor, data)[:, 0], by_hand.predict(X[["temp"]]))
    unused = refitter(predictor, data)(ROWS, without=(1,))
    all_used = LinearRegression().fit(X[["open", "temp"]].iloc[ROWS], amount[ROWS])
    np.testing.assert_array_equal(full(unused.predictor, data)[:, 0], all_used.predict(X[["open", "temp"]]))


def test_a_column_transformer_keeps_a_constant_column(mixed, amount):
    X = mixed.assign(temp=mixed["temp"].fillna(0.0))
    encode = make_column_transformer((OneHotEncoder(), ["sky", "town"]), remainder="passthrough")
    model = make_pipeline(encode, Ridge()).fit(X, amount)
    predictor, data = bind(model, X, amount)
    again = refitter(predictor, data)(ROWS, without=(X.columns.get_loc("sky"),))
    assert again.constant
    without = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    by_hand = make_pipeline(without, Ridge()).fit(X.drop(columns="sky").iloc[ROWS], amount[ROWS])
    np.testing.assert_allclose(full(again.predictor, data)[:, 0], by_hand.predict(X.drop(columns="sky")), rtol=1e-9)


@needs("pandas", "3.0")
def test_a_column_transformer_that_selects_by_type_does_without(mixed, amount):
    X = mixed.assign(temp=mixed["temp"].fillna(0.0))
    encode = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include=["category", "object", "str"])), remainder="passthrough"
    )
    predictor, data = bind(make_pipeline(encode, Ridge()).fit(X, amount), X, amount)
    assert not refitter(predictor, data)(ROWS, without=(3,)).constant


def test_positions_do_not_shift(mixed, amount):
    # Position 1 is a category to the model; without column 0 it would be another column.
    X = np.column_stack([mixed["day"], mixed["sky"].cat.codes, mixed["open"]]).astype(float)
    model = HistGradientBoostingRegressor(categorical_features=[1], max_iter=5, min_samples_leaf=2, random_state=0)
    predictor, data = bind(clone(model).fit(X, amount), X, amount)
    again = refitter(predictor, data)(ROWS, without=(0,))
    assert again.constant
    flat = X.copy()
    flat[:, 0] = 0.0
    np.testing.assert_array_equal(
        full(again.predictor, data)[:, 0], clone(model).fit(flat[ROWS], amount[ROWS]).predict(flat)
    )
    encoder = make_column_transformer((OrdinalEncoder(), [1]), remainder="passthrough")
    predictor, data = bind(make_pipeline(encoder, LinearRegression()).fit(X, amount), X, amount)
    assert refitter(predictor, data)(ROWS, without=(2,)).constant


def test_a_constant_is_no_intercept_in_disguise():
    # Without an intercept a column of ones would be one; held at the value nearest to zero it is nothing.
    X = np.column_stack([np.arange(-5.0, 6.0), np.ones(11), np.zeros(11)])
    y = np.arange(11.0)
    model = make_pipeline(make_column_transformer(("passthrough", [0, 1, 2])), Ridge(fit_intercept=False))
    predictor, data = bind(model.fit(X, y), X, y)
    again = refitter(predictor, data)(np.arange(11), without=(0,))
    np.testing.assert_allclose(
        full(again.predictor, data)[:, 0], Ridge(fit_intercept=False).fit(X[:, 1:], y).predict(X[:, 1:])
    )


def test_without_any_column_left(mixed, amount):
    X = mixed[["day"]]
    predictor, data = bind(DecisionTreeRegressor().fit(X, amount), X, amount)
    again = refitter(predictor, data)(ROWS, without=(0,))
    np.testing.assert_allclose(full(again.predictor, data)[:, 0], amount[ROWS].mean())
    assert again.constant


# -- outputs ----------------------------------------------------------------------------------------


def test_outputs_link_and_names_stay(mixed, level):
    X = mixed[["temp", "day"]].fillna(0.0)
    predictor, data = bind(LogisticRegression().fit(X, level), X, level, output="mid", link="logit")
    again = refitter(predictor, data)(ROWS).predictor
    by_hand = LogisticRegression().fit(X.iloc[ROWS], level[ROWS]).predict_proba(X)[:, 1]
    assert (again.output_names, again.link, again.classes) == (("mid",), "logit", ("low", "mid", "top"))
    np.testing.assert_allclose(Run().predict(again, data)[:, 0], np.log(by_hand / (1 - by_hand)))


def test_a_class_that_the_rows_lack(mixed, level):
    X = mixed[["temp", "day"]].fillna(0.0)
    predictor, data = bind(LogisticRegression().fit(X, level), X, level)
    rows = np.flatnonzero(level != "mid")
    again = full(refitter(predictor, data)(rows).predictor, data)
    by_hand = LogisticRegression().fit(X.iloc[rows], level[rows]).predict_proba(X)
    np.testing.assert_array_equal(again[:, [0, 2]], by_hand)
    np.testing.assert_array_equal(again[:, 1], 0)
    single = np.flatnonzero(level == "top")
    tree, data = bind(DecisionTreeClassifier().fit(X, level), X, level)
    alone = full(refitter(tree, data)(single).predictor, data)
    np.testing.assert_array_equal(alone, np.tile([0.0, 0.0, 1.0], (150, 1)))


def test_scores_and_labels(mixed, verdict):
    X = mixed[["temp", "day"]].fillna(0.0)
    predictor, data = bind(RidgeClassifier().fit(X, verdict), X, verdict)
    scores = RidgeClassifier().fit(X.iloc[ROWS], verdict[ROWS]).decision_function(X)
    np.testing.assert_array_equal(full(refitter(predictor, data)(ROWS).predictor, data)[:, 1], scores)
    asked = RandomForestClassifier(5, random_state=0).fit(X, verdict)
    predictor, data = bind(asked.predict, X, verdict)
    labels = clone(asked).fit(X.iloc[ROWS], verdict[ROWS]).predict(X)
    np.testing.assert_array_equal(
        full(refitter(predictor, data)(ROWS).predictor, data), two_columns((labels == "yes").astype(float))
    )


def test_a_function_that_fits(mixed, verdict):
    X = mixed[["temp", "day"]].fillna(0.0)
    fitted = LogisticRegression().fit(X, verdict)
    predictor, data = bind(lambda table: fitted.predict_proba(table)[:, 1], X, verdict)
    by_hand = LogisticRegression().fit(X.iloc[ROWS], verdict[ROWS]).predict_proba(X)
    functions = [
        lambda table, y: LogisticRegression().fit(table, y),
        lambda table, y: LogisticRegression().fit(table, y).predict_proba,
        lambda table, y: _second_class(LogisticRegression().fit(table, y)),
        LogisticRegression(),
    ]
    for fit in functions:
        again = refitter(predictor, data, fit)(ROWS).predictor
        np.testing.assert_allclose(full(again, data), by_hand, rtol=1e-12)


def _second_class(model: Any) -> Any:
    return lambda table: model.predict_proba(table)[:, 1]


def test_several_targets(mixed, amount):
    X = mixed[["temp", "day"]].fillna(0.0)
    y = np.column_stack([amount, -amount])
    predictor, data = bind(LinearRegression().fit(X, y), X, y)
    by_hand = LinearRegression().fit(X.iloc[ROWS], y[ROWS]).predict(X)
    np.testing.assert_allclose(full(refitter(predictor, data)(ROWS).predictor, data), by_hand)


# -- libraries --------------------------------------------------------------------------------------


def test_xgboost_with_categories_missing_values_and_early_stopping(mixed, amount, verdict):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is optional")
    X = mixed.drop(columns="town")
    settings = {"n_estimators": 40, "enable_categorical": True, "n_jobs": 1, "random_state": 0}
    model = xgboost.XGBRegressor(**settings, early_stopping_rounds=2)
    model.fit(X.iloc[::2], amount[::2], eval_set=[(X.iloc[1::2], amount[1::2])], verbose=False)
    predictor, data = bind(model, X, amount)
    again = refitter(predictor, data)(ROWS, without=(1,))
    kept = X.drop(columns="day")
    by_hand = xgboost.XGBRegressor(**{**settings, "n_estimators": model.best_iteration + 1})
    by_hand.fit(kept.iloc[ROWS], amount[ROWS])
    np.testing.assert_array_equal(full(again.predictor, data)[:, 0], by_hand.predict(kept))
    assert model.early_stopping_rounds == 2
    binary = xgboost.XGBClassifier(**settings).fit(X, verdict == "yes")
    predictor, data = bind(binary, X, (verdict == "yes").astype(int).astype(str))
    again = refitter(predictor, data)(ROWS)
    by_hand = xgboost.XGBClassifier(**settings).fit(X.iloc[ROWS], verdict[ROWS] == "yes")
    np.testing.assert_array_equal(full(again.predictor, data), by_hand.predict_proba(X))


def test_lightgbm_with_categories_and_early_stopping(mixed, level):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is optional")
    X = mixed.drop(columns="town")
    settings = {"n_estimators": 60, "min_child_samples": 3, "verbose": -1, "n_jobs": 1, "random_state": 0}
    model = lightgbm.LGBMClassifier(**settings)
    stop = lightgbm.early_stopping(2, verbose=False)
    with warnings.catch_warnings(action="ignore"):  # LightGBM 4.7 renames eval_set
        model.fit(X.iloc[::2], level[::2], eval_set=[(X.iloc[1::2], level[1::2])], callbacks=[stop])
    assert model.best_iteration_ < 60
    predictor, data = bind(model, X, level)
    again = refitter(predictor, data)(ROWS, without=(2,))
    kept = X.drop(columns="open")
    by_hand = lightgbm.LGBMClassifier(**{**settings, "n_estimators": model.best_iteration_})
    by_hand.fit(kept.iloc[ROWS], level[ROWS])
    np.testing.assert_array_equal(full(again.predictor, data), by_hand.predict_proba(kept))


@pytest.mark.parametrize("given_at", ["fit", "constructor"])
def test_catboost_keeps_its_categories(given_at, mixed, amount):
    catboost = pytest.importorskip("catboost", reason="catboost is optional")
    X = mixed.assign(sky=mixed["sky"].astype(str))
    settings = {"iterations": 8, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    names = ["sky", "town"]
    if given_at == "fit":
        model = catboost.CatBoostRegressor(**settings).fit(X, amount, cat_features=names)
    else:
        model = catboost.CatBoostRegressor(**settings, cat_features=names).fit(X, amount)
    predictor, data = bind(model, X, amount)
    again = refitter(predictor, data)(ROWS, without=(4,))
    assert again.constant
    common = X["town"].value_counts().sort_index(ascending=True).idxmax()
    flat = X.assign(town=common)
    by_hand = catboost.CatBoostRegressor(**settings).fit(flat.iloc[ROWS], amount[ROWS], cat_features=names)
    np.testing.assert_allclose(full(again.predictor, data)[:, 0], by_hand.predict(flat), rtol=1e-9)
    numbers = X[["temp", "day"]]
    plain = catboost.CatBoostRegressor(**settings).fit(numbers, amount)
    predictor, data = bind(plain, numbers, amount)
    assert not refitter(predictor, data)(ROWS, without=(0,)).constant


def test_torch_by_a_function(mixed, amount):
    torch = pytest.importorskip("torch", reason="torch is optional")
    X = mixed[["temp", "day"]].fillna(0.0).to_numpy(dtype=np.float32)

    def fit(table, y):
        slopes = np.linalg.lstsq(np.asarray(table), np.asarray(y), rcond=None)[0]
        layer = torch.nn.Linear(len(slopes), 1, bias=False)
        layer.weight.data = torch.tensor(slopes[None, :], dtype=torch.float32)
        return layer

    predictor, data = bind(fit(X, amount), X, amount)
    with pytest.raises(InputError, match=r"Linear \(.*torch\) .*give refit="):
        refitter(predictor, data)
    again = refitter(predictor, data, fit)(ROWS, without=(0,))
    slope = np.linalg.lstsq(X[ROWS][:, 1:], amount[ROWS], rcond=None)[0]
    np.testing.assert_allclose(full(again.predictor, data)[:, 0], X[:, 1] * slope, rtol=1e-5)


def test_a_native_booster_needs_a_function(mixed, amount):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is optional")
    X = mixed[["temp", "day"]]

    def fit(table, y):
        return lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(table, y), 5)

    predictor, data = bind(fit(X, amount), X, amount)
    with pytest.raises(InputError, match=r"Booster \(lightgbm\)"):
        refitter(predictor, data)
    again = refitter(predictor, data, fit)(ROWS)
    by_hand = fit(X.iloc[ROWS], amount[ROWS]).predict(X)
    np.testing.assert_array_equal(full(again.predictor, data)[:, 0], by_hand)


# -- weights, seeds, searches -----------------------------------------------------------------------


def test_weights_reach_the_fit_where_it_takes_them(mixed, amount):
    X = mixed[["temp", "day"]].fillna(0.0)
    weights = np.linspace(0.1, 2.0, 150)
    for model in (LinearRegression(), make_pipeline(StandardScaler(), LinearRegression())):
        predictor = Predictor(clone(model).fit(X, amount), X)
        data = Data.of(X, amount, sample_weight=weights, container=predictor.container)
        refit = refitter(predictor, data)
        again = full(refit(ROWS).predictor, data)[:, 0]
        by_hand = LinearRegression().fit(X.iloc[ROWS], amount[ROWS], sample_weight=weights[ROWS])
        np.testing.assert_allclose(again, by_hand.predict(X), rtol=1e-9)
        assert refit.weighs
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2).fit(X, amount)
    assert refitter(Predictor(search, X), data).weighs
    assert not refitter(Predictor(KNeighborsRegressor().fit(X, amount), X), data).weighs
    assert not refitter(predictor, data, lambda X, y: None).weighs
    assert refitter(predictor, data, lambda X, y, sample_weight: None).weighs


def test_a_seed_that_is_set_stays_and_one_that_is_not_is_given():
    kept = cloned(RandomForestClassifier(random_state=7), seed=3)
    assert kept.random_state == 7
    pipe = cloned(make_pipeline(StandardScaler(), RandomForestClassifier()), seed=3)
    assert pipe.get_params()["randomforestclassifier__random_state"] == 3


def test_a_search_searches_again(mixed, amount):
    X = mixed[["temp", "day"]].fillna(0.0)
    search = GridSearchCV(DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 5]}, cv=3)
    predictor, data = bind(clone(search).fit(X, amount), X, amount)
    by_hand = clone(search).fit(X.iloc[ROWS], amount[ROWS])
    np.testing.assert_array_equal(full(refitter(predictor, data)(ROWS).predictor, data)[:, 0], by_hand.predict(X))


def test_the_given_model_the_table_and_the_outcome_are_left_alone(mixed, amount):
    class Spoiler(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.mean_ = y.mean()
            X.loc[:, "day"] = 99
            y[:] = 0
            return self

        def predict(self, X):
            X.loc[:, "temp"] = 0.0
            return np.full(len(X), self.mean_)

    X = mixed[["temp", "day"]].fillna(0.0)
    before, y = X.copy(), amount.copy()
    model = Spoiler().fit(X.copy(), y.copy())
    predictor, data = bind(model, X, y)
    token = joblib.hash(model.__dict__)
    again = refitter(predictor, data)(ROWS)
    np.testing.assert_allclose(full(again.predictor, data), amount[ROWS].mean())
    pd.testing.assert_frame_equal(X, before)
    np.testing.assert_array_equal(y, amount)
    assert joblib.hash(model.__dict__) == token


# -- errors -----------------------------------------------------------------------------------------


def test_errors_name_the_remedy(mixed, amount):
    X = mixed[["temp", "day"]].fillna(0.0)
    model = LinearRegression().fit(X, amount)
    predictor, _ = bind(model, X, amount)
    with pytest.raises(InputError, match="give y to the Explainer"):
        refitter(predictor, Data.of(X))
    data = Data.of(X, amount)
    with pytest.raises(InputError, match="refit is a str"):
        refitter(predictor, data, "again")

    def broken(table, y):
        raise RuntimeError("no memory left")

    with pytest.raises(ModelError, match=r"LinearRegression .*75 rows .*RuntimeError: no memory left"):
        refitter(predictor, data, broken)(ROWS)
    with pytest.raises(ModelError, match=r"3 outputs .*1; refit="):
        refitter(predictor, data, lambda X, y: lambda Z: np.zeros((len(Z), 3)))(ROWS)


# -- parts ------------------------------------------------------------------------------------------


def test_calls_in_parallel_keep_their_order():
    calls = [lambda k=k: k * k for k in range(20)]
    assert list(in_parallel(calls, 1)) == list(in_parallel(calls, 2)) == [k * k for k in range(20)]


def test_calls_in_parallel_can_be_left_early():
    results = in_parallel([lambda k=k: k for k in range(20)], 2)
    assert next(results) == 0
    results.close()
    assert list(results) == []


def test_a_reduction_of_nothing_is_the_table_itself(mixed):
    frame = Data.of(mixed).frame
    assert Reduction().apply(frame) is frame
    assert Reduction(keep=(1, 0)).apply(frame).names == ("day", "temp")
