"""ONNX graphs made by skl2onnx: one matrix or one input per column, with and without ZipMap."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from models.asking import predictions, swept
from pellucid.errors import InputError
from pellucid.models import Predictor

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is optional")
skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx makes the graphs")


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day"]].fillna(0.0).to_numpy(dtype=np.float32)


def session(graph):
    return onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])


def own(graph, X, output: int) -> np.ndarray:
    """The graph's own answer for a matrix."""
    return session(graph).run(None, {"X": X})[output]


def forest(X, y, **options):
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    return skl2onnx.to_onnx(model, X[:1], options={id(model): options} if options else None)


def test_regressor(X, amount):
    model = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, amount)
    graph = skl2onnx.to_onnx(model, X[:1])
    predictor = Predictor(graph, X)
    assert (predictor.library, predictor.task, predictor.output_names) == ("onnx", "regression", ("prediction",))
    np.testing.assert_array_equal(predictions(predictor, X), own(graph, X, 0))


def test_zipmap_keys_are_the_classes(X, level):
    graph = forest(X, level)
    predictor = Predictor(graph, X)
    assert predictor.output_names == ("low", "mid", "top")
    rows = own(graph, X, 1)
    np.testing.assert_array_equal(
        predictions(predictor, X), [[row[name] for name in ("low", "mid", "top")] for row in rows]
    )


@pytest.mark.parametrize("labels", ["level", "verdict", "codes"])
def test_labels_without_zipmap(X, level, verdict, labels):
    y = {"level": level, "verdict": verdict, "codes": np.unique(level, return_inverse=True)[1] + 5}[labels]
    graph = forest(X, y, zipmap=False)
    predictor = Predictor(graph, X)
    assert predictor.classes == tuple(np.unique(y).tolist())
    kept = slice(1, None) if labels == "verdict" else slice(None)
    np.testing.assert_array_equal(predictions(predictor, X), own(graph, X, 1)[:, kept])


def test_classes_that_never_win_are_numbered(X, level):
    rare = np.where(np.arange(len(level)) == 0, "zzz", level)
    model = RandomForestClassifier(5, max_depth=1, random_state=0).fit(X, rare)
    graph = skl2onnx.to_onnx(model, X[:1], options={id(model): {"zipmap": False}})
    assert Predictor(graph, X).classes == (0, 1, 2, 3)


def test_scores_are_not_called_probabilities(X, verdict):
    """skl2onnx names the scores of a support vector machine 'probabilities'."""
    model = LinearSVC().fit(X, verdict)
    graph = skl2onnx.to_onnx(model, X[:1])
    predictor = Predictor(graph, X)
    assert (predictor.scale, predictor.output_names) == ("score", ("yes",))
    np.testing.assert_array_equal(predictions(predictor, X), own(graph, X, 1))


def test_file_path_session_and_proto_agree(X, level, tmp_path):
    graph = forest(X, level)
    path = tmp_path / "forest.onnx"
    path.write_bytes(graph.SerializeToString())
    expected = predictions(Predictor(graph, X), X)
    for model in (str(path), path, session(graph)):
        predictor = Predictor(model, X)
        assert predictor.output_names == ("low", "mid", "top")
        np.testing.assert_array_equal(predictions(predictor, X), expected)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_matrix_input_asked_with_a_frame(mixed, X, amount, kind):
    graph = skl2onnx.to_onnx(RandomForestRegressor(3, max_depth=4, random_state=0).fit(X, amount), X[:1])
    frame = mixed[["temp", "day"]].fillna(0.0)
    if kind != "pandas":
        pl = pytest.importorskip("polars", reason="polars is optional")
        frame = pl.from_pandas(frame) if kind == "polars" else pl.from_pandas(frame).to_arrow()
    np.testing.assert_array_equal(predictions(Predictor(graph, frame), frame), own(graph, X, 0))


# -- one input per column -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def columns(mixed, level):
    """A pipeline whose graph takes each column by itself; 'air temp' becomes the input air_temp."""
    from skl2onnx.common import data_types as types

    X = mixed.rename(columns={"temp": "air temp"}).drop(columns="open")
    X = X.assign(sky=X["sky"].astype(str), **{"air temp": X["air temp"].fillna(0.0)})
    encode = make_column_transformer((OneHotEncoder(), ["sky", "town"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression(max_iter=500)).fit(X, level)
    kinds = [types.FloatTensorType, types.Int64TensorType, types.StringTensorType, types.StringTensorType]
    inputs = [(name, kind([None, 1])) for name, kind in zip(X.columns, kinds, strict=True)]
    options = {id(model): {"zipmap": False}}
    return X, skl2onnx.convert_sklearn(model, initial_types=inputs, options=options)


def own_columns(graph, X) -> np.ndarray:
    feed = {
        "air_temp": X["air temp"].to_numpy(dtype=np.float32),
        "day": X["day"].to_numpy(dtype=np.int64),
        "sky": X["sky"].to_numpy(dtype=object),
        "town": X["town"].to_numpy(dtype=object),
    }
    return session(graph).run(None, {name: values.reshape(-1, 1) for name, values in feed.items()})[1]


def test_one_input_per_column(columns):
    X, graph = columns
    other = X[["town", "day", "sky", "air temp"]].assign(extra=0)
    predictor = Predictor(graph, other)
    assert predictor.output_names == ("low", "mid", "top")
    np.testing.assert_array_equal(predictions(predictor, other), own_columns(graph, X))
    rain = own_columns(graph, X.assign(sky="rain"))
    np.testing.assert_array_equal(swept(predictor, other, "sky", "rain"), rain)
    np.testing.assert_array_equal(swept(predictor, other, "day", 4), own_columns(graph, X.assign(day=4)))


def test_text_and_integers_cannot_be_missing_in_onnx(columns):
    X, graph = columns
    with pytest.raises(InputError, match=r"column 'town' .*row 0 .*fill"):
        Predictor(graph, X.assign(town=None))
    with pytest.raises(InputError, match=r"column 'day' is missing in row 0 .*'day'"):
        Predictor(graph, X.assign(day=np.nan))


def test_text_for_a_matrix_of_numbers(X, amount, mixed):
    graph = skl2onnx.to_onnx(RandomForestRegressor(2, random_state=0).fit(X, amount), X[:1])
    with pytest.raises(InputError, match="takes numbers only"):
        Predictor(graph, mixed[["sky", "day"]])


def test_bad_files(X, tmp_path):
    with pytest.raises(InputError, match=r"nothing\.onnx'; check the path"):
        Predictor(str(tmp_path / "nothing.onnx"), X)
    (tmp_path / "table.onnx").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"onnxruntime cannot read .*table\.onnx"):
        Predictor(tmp_path / "table.onnx", X)
