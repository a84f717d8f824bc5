"""Pipelines: the steps make the matrix themselves, and every matrix column knows its input column."""

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  makes the import below possible
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from pellucid import datasets
from pellucid.trees.convert.registry import convert
from pellucid.trees.convert.tree_model import Unsupported
from trees.convert.sklearn_checks import assert_predicts, assert_source, data, labels

FOREST = RandomForestRegressor(5, max_depth=6, random_state=0)


def mixed(n=300, seed=0):
    """Numbers, some with gaps, and two columns of text."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue", "grey"], size=n, p=[0.4, 0.4, 0.17, 0.03]),
            "weight": rng.normal(size=n),
            "grade": rng.choice(["low", "high"], size=n),
            "age": rng.integers(18, 80, size=n).astype(float),
        }
    )
    y = frame["size"] * (frame["colour"] == "red") + (frame["grade"] == "high") * frame["weight"] + frame["age"] / 20
    frame.loc[rng.random(n) < 0.2, "size"] = np.nan
    frame.loc[rng.random(n) < 0.2, "age"] = np.nan
    return frame, y.to_numpy()


ONE_TO_ONE = [
    StandardScaler(),
    MinMaxScaler(),
    RobustScaler(),
    MaxAbsScaler(),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=50),
    Binarizer(threshold=0.1),
    KBinsDiscretizer(5, encode="ordinal", strategy="uniform"),
    FunctionTransformer(),
    FunctionTransformer(np.arctan),
    "passthrough",
    make_pipeline(StandardScaler(), "passthrough", MinMaxScaler()),
]


@pytest.mark.parametrize("step", ONE_TO_ONE, ids=lambda step: type(step).__name__)
def test_steps_that_keep_the_columns(step):
    X, y = data()
    model = Pipeline([("step", step), ("forest", FOREST)]).fit(X, y)
    table, _ = data(seed=1)
    read = assert_predicts(model, table, model.predict(table))
    assert read.source.tolist() == [0, 1, 2, 3, 4]
    assert assert_source(read, table, table[::-1]) == {0, 1, 2, 3, 4}


SELECTORS = [
    SelectKBest(f_regression, k=2),
    VarianceThreshold(1.5),
    SelectFromModel(RandomForestRegressor(5, random_state=0)),
    RFE(RandomForestRegressor(3, random_state=0), n_features_to_select=2),
]


@pytest.mark.parametrize("step", SELECTORS, ids=lambda step: type(step).__name__)
def test_selectors_keep_some(step):
    X, y = data()
    model = make_pipeline(StandardScaler(with_std=False), step, FOREST).fit(X, y)
    read = assert_predicts(model, X, model.predict(X))
    assert read.source.tolist() == np.flatnonzero(model[1].get_support()).tolist()
    assert 0 < len(read.source) < 5
    assert_source(read, X, X[::-1])


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
@pytest.mark.filterwarnings("ignore:Currently, when `keep_empty_feature")
def test_imputer(strategy, keep):
    X, y = data(missing=0.2)
    X[:, 1] = np.nan
    X[:, 4] = np.nan_to_num(X[:, 4])
    model = make_pipeline(SimpleImputer(strategy=strategy, keep_empty_features=keep, add_indicator=True), FOREST)
    model.fit(X, y)
    read = assert_predicts(model, X, model.predict(X))
    assert_source(read, X, X[::-1])
    if keep:
        assert read.source.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3]
    elif strategy != "constant":  # older versions keep the empty column then
        assert read.source.tolist() == [0, 2, 3, 4, 0, 1, 2, 3]


def test_imputer_that_marks_missing_values_as_such():
    X, y = data()
    X[::3, 2] = -1
    marker = SimpleImputer(missing_values=-1, strategy="constant", fill_value=np.nan, keep_empty_features=True)
    model = make_pipeline(marker, FOREST).fit(X, y)
    read = assert_predicts(model, X, model.predict(X))
    assert read.source.tolist() == [0, 1, 2, 3, 4]
    assert np.isnan(read.encode(X)[::3, 2]).all()


def mixed_pipeline(*, sparse_threshold, final, output="default"):
    numeric = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    columns = ColumnTransformer(
        [
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=output == "default"), ["colour"]),
            ("numbers", numeric, ["age", "size"]),
            ("none", StandardScaler(), []),
            ("gone", "drop", ["weight"]),
        ],
        remainder=OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        sparse_threshold=sparse_threshold,
    )
    return Pipeline([("columns", columns), ("final", final)]).set_output(transform=output)


@pytest.mark.parametrize(("sparse_threshold", "output"), [(0.0, "default"), (1.0, "default"), (0.0, "pandas")])
@pytest.mark.parametrize("final", [FOREST, GradientBoostingRegressor(n_estimators=5)], ids=["forest", "boosting"])
def test_column_transformer(final, sparse_threshold, output):
    frame, y = mixed()
    model = mixed_pipeline(sparse_threshold=sparse_threshold, final=final, output=output).fit(frame, y)
    table, _ = mixed(seed=1)
    table.loc[::9, "colour"] = "never seen"
    table.loc[::11, "grade"] = "unheard of"
    read = assert_predicts(model, table, model.predict(table))
    assert read.source.tolist() == [1, 1, 1, 1, 4, 0, 4, 0, 3]
    assert assert_source(read, table, table[::-1].reset_index(drop=True)) == set(range(9))


def test_columns_by_position_mask_slice_and_selector():
    X, y = data()
    columns = make_column_transformer(
        (StandardScaler(), slice(1, 3)),
        (MinMaxScaler(), [True, False, False, False, True]),
        ("passthrough", [-2]),
        (KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), [0]),
    )
    model = make_pipeline(columns, FOREST).fit(X, y)
    read = assert_predicts(model, X, model.predict(X))
    assert read.source.tolist() == [1, 2, 0, 4, 3, 0, 0, 0]
    assert_source(read, X, X[::-1])
    frame, y = mixed()
    columns = make_column_transformer(
        (
            OneHotEncoder(drop="first", min_frequency=20, sparse_output=False),
            make_column_selector(dtype_exclude=np.number),
        ),
        remainder="passthrough",
    )
    model = make_pipeline(columns, FOREST).fit(frame, y)
    read = assert_predicts(model, frame, model.predict(frame))
    assert read.source.tolist() == [1, 1, 1, 3, 0, 2, 4]
    assert assert_source(read, frame, frame[::-1].reset_index(drop=True)) == set(range(7))


def test_columns_in_another_order_are_found_by_name():
    frame, y = mixed()
    model = mixed_pipeline(sparse_threshold=0.0, final=FOREST).fit(frame, y)
    read = convert(model)
    np.testing.assert_array_equal(read.encode(frame[frame.columns[::-1]]), read.encode(frame))


def test_unions_and_indicators():
    X, y = data(missing=0.2)
    X[:, 3] = np.nan_to_num(X[:, 3])
    union = FeatureUnion(
        [
            ("same", "passthrough"),
            ("gaps", MissingIndicator()),
            ("no", "drop"),
            ("ends", make_pipeline(StandardScaler(), VarianceThreshold())),
        ]
    )
    model = make_pipeline(union, FOREST).fit(X, y)
    read = assert_predicts(model, X, model.predict(X))
    assert read.source.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 4, 0, 1, 2, 3, 4]
    assert_source(read, X, X[::-1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_target_encoder(n_classes):
    frame, y = mixed()
    text = frame[["colour", "grade"]]
    model = make_pipeline(TargetEncoder(), RandomForestClassifier(5, random_state=0))
    model.fit(text, labels(y, n_classes))
    read = assert_predicts(model, text, model.predict_proba(text))
    assert read.source.tolist() == ([0, 1] if n_classes == 2 else [0, 0, 0, 1, 1, 1])
    assert_source(read, text, text[::-1].reset_index(drop=True))


def test_native_categories_after_a_step():
    frame, y = mixed()
    columns = make_column_transformer((OrdinalEncoder(), ["grade", "colour"]), remainder="passthrough")
    hist = HistGradientBoostingRegressor(categorical_features=[1], max_iter=20)
    model = make_pipeline(columns, hist).fit(frame, y)
    read = assert_predicts(model, frame, model.predict(frame), atol=1e-12)
    assert read.source.tolist() == [1, 3, 0, 2, 4]


def test_pipelines_in_pipelines():
    X, y = data()
    inner = make_pipeline(SelectKBest(f_regression, k=3), StandardScaler(), FOREST)
    model = make_pipeline(VarianceThreshold(0.5), inner).fit(X, y)
    read = assert_predicts(model, X, model.predict(X))
    assert set(read.source) <= {0, 1, 3, 4}
    assert_source(read, X, X[::-1])


def test_members_of_other_libraries():
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    frame, y = mixed()
    for member in (lightgbm.LGBMRegressor(n_estimators=5, verbose=-1), xgboost.XGBRegressor(n_estimators=5)):
        # XGBoost reads what a sparse matrix does not store as missing, LightGBM as zero.
        model = mixed_pipeline(sparse_threshold=1.0, final=member).fit(frame, y)
        read = assert_predicts_loosely(model, frame)
        assert read.source.tolist() == [1, 1, 1, 1, 4, 0, 4, 0, 3]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def assert_predicts_loosely(model, frame):
    return assert_predicts(model, frame, model.predict(frame), atol=1e-5)


MIXING = [
    PCA(2),
    PolynomialFeatures(2),
    Normalizer(),
    KNNImputer(),
    IterativeImputer(),
    FunctionTransformer(np.fliplr),
    make_pipeline(StandardScaler(), PCA(2)),
    FeatureUnion([("pca", PCA(2))]),
    ColumnTransformer([("pca", PCA(2), [0, 1, 2])]),
]


@pytest.mark.parametrize("step", MIXING, ids=lambda step: type(step).__name__)
def test_steps_that_mix_columns_are_refused_by_name(step):
    X, y = data()
    model = make_pipeline(step, FOREST).fit(X, y)
    name = {"Pipeline": "PCA", "FeatureUnion": "PCA", "ColumnTransformer": "PCA"}.get(
        type(step).__name__, type(step).__name__
    )
    with pytest.raises(Unsupported, match=f"{name} .*column by column"):
        convert(model)


def foreign(name, **methods):
    """A transformer from elsewhere, named like one of scikit-learn's: what it does is not known."""
    return type(name, (TransformerMixin, BaseEstimator), {"fit": lambda self, X, y: self, **methods})


def test_unknown_transformers_are_refused_by_name():
    X, y = data()
    turned = foreign("StandardScaler", transform=lambda self, X: X[:, ::-1])
    with pytest.raises(Unsupported, match="StandardScaler in a pipeline"):
        convert(make_pipeline(turned(), FOREST).fit(X, y))
    chosen = foreign("Choice", transform=lambda self, X: X[:, :2], get_support=lambda self, indices: [3, 4])
    with pytest.raises(Unsupported, match="Choice in a pipeline"):
        convert(make_pipeline(chosen(), FOREST).fit(X, y))
    with pytest.raises(Unsupported, match="FunctionTransformer with func=fliplr"):
        convert(make_pipeline(FunctionTransformer(np.fliplr), FOREST).fit(X, y))


def test_a_pipeline_without_a_model_is_refused():
    X, y = data()
    with pytest.raises(Unsupported, match="ends with 'passthrough'"):
        convert(make_pipeline(StandardScaler(), "passthrough").fit(X, y))
    with pytest.raises(Unsupported, match="StandardScaler"):
        convert(make_pipeline(StandardScaler()).fit(X, y))


def test_a_pipeline_of_trees_alone_is_the_trees():
    X, y = data()
    model = make_pipeline("passthrough", FOREST).fit(X, y)
    assert_predicts(model, X, model.predict(X))


def test_a_converted_pipeline_travels_to_other_processes():
    frame, y = mixed()
    read = convert(mixed_pipeline(sparse_threshold=0.0, final=FOREST).fit(frame, y))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(read)).encode(frame), read.encode(frame))


@pytest.fixture
def real_data(monkeypatch):
    named = os.environ.get("PELLUCID_DATA")
    folder = Path(named) if named else Path(__file__).parents[3].parent / "shared" / "data"
    if not (folder / "bike.csv").is_file():
        pytest.skip("the data files are absent: set PELLUCID_DATA to the folder that holds them")
    monkeypatch.setenv("PELLUCID_DATA", str(folder))


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("name", ["bike", "credit"])
def test_real_tables(name):
    table = datasets.bike() if name == "bike" else datasets.credit(complete=False)
    X, y = table.X, table.y
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude=np.number)),
        (SimpleImputer(strategy="median"), make_column_selector(dtype_include=np.number)),
    )
    if name == "bike":
        model = make_pipeline(columns, RandomForestRegressor(20, random_state=0)).fit(X, y)
        expected = model.predict(X)
    else:
        model = make_pipeline(columns, RandomForestClassifier(20, random_state=0)).fit(X, y)
        expected = model.predict_proba(X)
    read = assert_predicts(model, X, expected)
    assert set(read.source) == set(range(X.shape[1]))
    assert_source(read, X.head(200), X.tail(200))
