"""scikit-learn estimators and pipelines on a table with every kind of column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from models.asking import assert_faithful, predictions, second
from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Run, constant_intervention


def encoder():
    """Everything a table needs before a model of numbers can read it."""
    return make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["temp", "day"]),
        (OneHotEncoder(), ["sky"]),
        (OrdinalEncoder(), ["town"]),
        remainder="passthrough",
    )


def test_pipeline_regressor_is_explained_on_its_input_columns(mixed, amount):
    model = make_pipeline(encoder(), Ridge()).fit(mixed, amount)
    predictor = Predictor(model, mixed)
    assert (predictor.name, predictor.library) == ("Ridge", "scikit-learn")
    assert (predictor.task, predictor.scale) == ("regression", "response")
    assert predictor.names == tuple(mixed.columns)
    assert predictor.output_names == ("prediction",)
    assert_faithful(predictor, mixed, model.predict)


@pytest.mark.parametrize(
    "tail",
    [
        LogisticRegression(),
        RandomForestClassifier(5, random_state=0),
        VotingClassifier(
            [("a", LogisticRegression()), ("b", RandomForestClassifier(3, random_state=1))], voting="soft"
        ),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
    ],
    ids=lambda tail: type(tail).__name__,
)
def test_binary_pipeline_has_one_output_the_probability_of_the_second_class(mixed, verdict, tail):
    model = make_pipeline(encoder(), tail).fit(mixed, verdict)
    predictor = Predictor(model, mixed)
    assert predictor.classes == ("no", "yes")
    assert predictor.output_names == ("yes",)
    assert (predictor.task, predictor.scale) == ("classification", "probability")
    assert_faithful(predictor, mixed, lambda X: second(model.predict_proba(X)))


def test_multiclass_has_one_output_per_class(mixed, level):
    model = make_pipeline(encoder(), LogisticRegression()).fit(mixed, level)
    predictor = Predictor(model, mixed)
    assert predictor.output_names == ("low", "mid", "top")
    assert_faithful(predictor, mixed, model.predict_proba)


def test_boolean_labels_name_the_output(mixed, amount):
    model = make_pipeline(encoder(), LogisticRegression()).fit(mixed, amount > 5)
    predictor = Predictor(model, mixed)
    assert predictor.classes == (False, True)
    assert predictor.output_names == ("True",)
    no = Predictor(model, mixed, output=False)
    np.testing.assert_array_equal(predictions(no, mixed)[:, 0], model.predict_proba(mixed)[:, 0])


def test_hist_gradient_boosting_keeps_categories_and_missing_values(mixed, amount, level):
    X = mixed.drop(columns="town")
    model = HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=3, categorical_features="from_dtype")
    model.fit(X, amount)
    assert_faithful(Predictor(model, X), X, model.predict)
    classifier = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3).fit(X, level)
    assert_faithful(Predictor(classifier, X), X, classifier.predict_proba)


def test_search_and_transformed_target(mixed, amount, verdict):
    search = GridSearchCV(make_pipeline(encoder(), LogisticRegression()), {"logisticregression__C": [1.0, 2.0]})
    search.fit(mixed, verdict)
    assert Predictor(search, mixed).name == "LogisticRegression"
    assert_faithful(Predictor(search, mixed), mixed, lambda X: second(search.predict_proba(X)))
    skewed = TransformedTargetRegressor(make_pipeline(encoder(), Ridge()), func=np.arcsinh, inverse_func=np.sinh).fit(
        mixed, amount
    )
    assert_faithful(Predictor(skewed, mixed), mixed, skewed.predict)


def test_columns_in_another_order_and_extra_columns(mixed, amount):
    """What the model was trained with is picked out by name."""
    model = make_pipeline(encoder(), GradientBoostingRegressor(n_estimators=5, random_state=0))
    model.fit(mixed, amount)
    shuffled = mixed[["town", "open", "temp", "sky", "day"]].assign(noise="?")
    predictor = Predictor(model, shuffled)
    assert_faithful(predictor, shuffled, lambda X: model.predict(X[list(mixed.columns)]))


def test_integer_column_labels_keep_their_dtypes(mixed, amount):
    """A frame whose labels are no text is no numpy array: its categories must arrive."""
    X = mixed[["temp", "sky"]].set_axis([0, 1], axis=1)
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3).fit(X, amount)
    predictor = Predictor(model, X)
    assert predictor.container == "pandas"
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], model.predict(X))


# -- the same model, asked with other tables ------------------------------------------------------


@pytest.fixture(scope="module")
def named(mixed, amount):
    return make_pipeline(encoder(), Ridge()).fit(mixed, amount)


def test_trained_on_pandas_asked_with_polars(mixed, named):
    pl = pytest.importorskip("polars", reason="polars is optional")
    X = pl.from_pandas(mixed)
    predictor = Predictor(named, X)
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], named.predict(mixed))


def test_trained_on_pandas_asked_with_arrow(mixed, named):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is optional")
    X = pa.Table.from_pandas(mixed)
    predictor = Predictor(named, X)
    assert predictor.container == "pandas"
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], named.predict(mixed))


def test_trained_on_pandas_asked_with_numpy(mixed, named):
    """Positions decide, the model gets its names back, and scikit-learn has nothing to warn about."""
    X = mixed.to_numpy()
    predictor = Predictor(named, X)
    assert predictor.names == tuple(mixed.columns)
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], named.predict(mixed))
    data = Data.of(X, container=predictor.container, feature_names=predictor.names)
    np.testing.assert_array_equal(Run().predict(predictor, data)[:, 0], named.predict(mixed))


def test_named_matrix_is_matched_by_its_names(mixed, amount):
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(mixed[["temp", "day"]], amount)
    X = mixed[["day", "temp"]].to_numpy()
    predictor = Predictor(model, X, feature_names=["day", "temp"])
    data = Data.of(X, container=predictor.container, feature_names=["day", "temp"])
    np.testing.assert_array_equal(Run().predict(predictor, data)[:, 0], model.predict(mixed[["temp", "day"]]))


def test_polars_that_a_transformer_cannot_read_becomes_pandas(mixed, amount):
    pl = pytest.importorskip("polars", reason="polars is optional")
    from sklearn.preprocessing import FunctionTransformer

    def only_pandas(X):
        return X.assign(temp=X["temp"].fillna(0))

    model = make_pipeline(FunctionTransformer(only_pandas), encoder(), Ridge()).fit(mixed, amount)
    predictor = Predictor(model, pl.from_pandas(mixed))
    assert predictor.container == "pandas"
    got = predictions(predictor, pl.from_pandas(mixed))
    np.testing.assert_array_equal(got[:, 0], model.predict(mixed))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_trained_on_numpy_asked_with_a_frame(mixed, amount, kind):
    """No names reach a model that was trained without: scikit-learn would warn, and warnings are errors here."""
    X = mixed[["temp", "day"]]
    model = HistGradientBoostingRegressor(max_iter=5).fit(X.to_numpy(), amount)
    table = {"pandas": lambda: X, "polars": lambda: _polars(X), "arrow": lambda: _arrow(X)}[kind]()
    predictor = Predictor(model, table)
    assert predictor.container == "numpy"
    np.testing.assert_array_equal(predictions(predictor, table)[:, 0], model.predict(X.to_numpy()))


def test_kinds_survive_a_matrix(mixed, amount):
    """A matrix of floats holds integers and booleans: they are still varied as such."""
    X = mixed[["temp", "day", "open"]]
    model = HistGradientBoostingRegressor(max_iter=5).fit(X.to_numpy(dtype=float), amount)
    predictor = Predictor(model, X)
    data = Data.of(X, container=predictor.container)
    assert [feature.kind for feature in data.schema.features] == ["numeric", "integer", "boolean"]
    assert_faithful(predictor, X, lambda table: model.predict(table.to_numpy(dtype=float)))


def _polars(X: pd.DataFrame):
    return pytest.importorskip("polars", reason="polars is optional").from_pandas(X)


def _arrow(X: pd.DataFrame):
    return pytest.importorskip("pyarrow", reason="pyarrow is optional").Table.from_pandas(X)


def test_dict_vectorizer_gets_dicts(mixed, amount):
    rows = mixed.drop(columns="temp").assign(sky=mixed["sky"].astype(str)).to_dict("records")
    model = make_pipeline(DictVectorizer(), Ridge()).fit(rows, amount)
    predictor = Predictor(model, rows)
    np.testing.assert_array_equal(predictions(predictor, rows)[:, 0], model.predict(rows))
    data = Data.of(rows, container=predictor.container)
    j = data.schema.index("town")
    zug = data.schema.features[j].encode(np.array(["Zug"], dtype=object))
    got = Run().collect(predictor, data, constant_intervention(data, (j,), (zug,)))[0, :, 0]
    np.testing.assert_array_equal(got, model.predict([row | {"town": "Zug"} for row in rows]))


def test_tail_of_a_text_pipeline_takes_sparse_rows(mixed, verdict):
    text = mixed["town"] + " " + mixed["sky"].astype(str)
    vectorizer = TfidfVectorizer().fit(text)
    X = vectorizer.transform(text)
    model = LogisticRegression().fit(X, verdict)
    words = vectorizer.get_feature_names_out().tolist()
    predictor = Predictor(model, X, feature_names=words)
    assert predictor.container == "sparse"
    data = Data.of(X, feature_names=words)
    np.testing.assert_array_equal(Run().predict(predictor, data)[:, 0], second(model.predict_proba(X)))
    j = words.index("rain")
    got = Run().collect(predictor, data, constant_intervention(data, (j,), (np.array([0.5]),)))[0, :, 0]
    by_hand = X.toarray()
    by_hand[:, j] = 0.5
    np.testing.assert_allclose(got, second(model.predict_proba(by_hand)), rtol=0, atol=1e-15)
