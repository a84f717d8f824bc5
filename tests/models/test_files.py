"""Models from files: data formats are opened, code is refused, and every refusal says what to do."""

from __future__ import annotations

import functools
import os
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import joblib
import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from models.asking import predictions, second
from pellucid.errors import InputError, MissingExtra
from pellucid.models import Predictor, files
from pellucid.models.files import TRUSTED, load_model, trusted_types


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day"]].fillna(0.0)


# -- skops ----------------------------------------------------------------------------------------


def pipeline(tail):
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["temp", "day"]),
        (OneHotEncoder(), ["sky"]),
        (OrdinalEncoder(), ["town"]),
        remainder="passthrough",
    )
    return make_pipeline(encode, tail)


SKOPS_MODELS = {
    "forest": pipeline(RandomForestRegressor(3, max_depth=3, random_state=0)),
    "linear": pipeline(LinearRegression()),
    "hist": make_pipeline(HistGradientBoostingRegressor(max_iter=3)),
    "neighbors": pipeline(KNeighborsRegressor(3)),
    "search": GridSearchCV(pipeline(LinearRegression()), {"linearregression__positive": [False]}, cv=2),
}


@pytest.mark.parametrize("which", SKOPS_MODELS)
def test_skops_regressors(mixed, amount, which, tmp_path):
    skops = pytest.importorskip("skops.io", reason="skops is optional")
    X = mixed.drop(columns="town") if which == "hist" else mixed
    model = SKOPS_MODELS[which].fit(X, amount)
    skops.dump(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(predictions(Predictor(loaded, X), X)[:, 0], model.predict(X))


@pytest.mark.parametrize(
    "model",
    [GradientBoostingClassifier(n_estimators=3), HistGradientBoostingClassifier(max_iter=3)],
    ids=lambda model: type(model).__name__,
)
def test_skops_classifiers(X, level, model, tmp_path):
    skops = pytest.importorskip("skops.io", reason="skops is optional")
    model.fit(X, level)
    skops.dump(model, tmp_path / "model.skops")
    loaded = load_model(str(tmp_path / "model.skops"))
    np.testing.assert_array_equal(predictions(Predictor(loaded, X), X), model.predict_proba(X))


def test_a_module_with_the_short_name_of_the_losses_is_trusted_only_if_it_is_theirs(monkeypatch):
    from sklearn._loss import _loss

    monkeypatch.setitem(sys.modules, "_loss", ModuleType("_loss"))
    assert trusted_types() == TRUSTED
    monkeypatch.setitem(sys.modules, "_loss", _loss)
    assert "_loss.CyHalfBinomialLoss" in trusted_types()


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_skops_with_a_booster_inside(X, amount, library, tmp_path):
    skops = pytest.importorskip("skops.io", reason="skops is optional")
    module = pytest.importorskip(library, reason=f"{library} is optional")
    tail = {"lightgbm": "LGBMRegressor", "xgboost": "XGBRegressor"}[library]
    model = getattr(module, tail)(n_estimators=3, n_jobs=1, verbosity=-1 if library == "lightgbm" else 0)
    model.fit(X, amount)
    skops.dump(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "model.skops").predict(X), model.predict(X))


class Unknown:
    """A type of somebody else's."""


@pytest.mark.parametrize(
    ("hostile", "named"),
    [
        (FunctionTransformer(os.system), "system"),
        (FunctionTransformer(functools.partial(os.system, "true")), "system"),
        (Unknown(), "Unknown"),
    ],
    ids=["function", "partial", "class"],
)
def test_skops_with_a_type_we_do_not_know(hostile, named, tmp_path):
    skops = pytest.importorskip("skops.io", reason="skops is optional")
    skops.dump(make_pipeline(hostile, LinearRegression()), tmp_path / "model.skops")
    for trust in (False, True):  # trust is about pickles: a skops file has no reason to hold strangers
        with pytest.raises(InputError, match=rf"holds the type '.*{named}'"):
            load_model(tmp_path / "model.skops", trust=trust)


def test_what_is_on_the_list_cannot_call_what_a_file_chooses():
    """Classes of known libraries, and one function that only reads; never a function of the system."""
    for name in sorted(TRUSTED):
        module, _, attribute = name.rpartition(".")
        assert module.split(".")[0] in {"collections", "functools", "numpy", "sklearn", "lightgbm", "xgboost"}
        found = getattr(pytest.importorskip(module), attribute, None)  # None: of another version
        assert found is None or isinstance(found, type) or name == "sklearn.utils.validation.check_array", name


# -- the libraries' own formats -------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_xgboost_file(X, amount, ending, tmp_path):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is optional")
    model = xgboost.XGBRegressor(n_estimators=3, n_jobs=1).fit(X, amount)
    path = tmp_path / f"model.{ending}"
    model.save_model(path)
    for asked in (load_model(path), path, str(path)):
        np.testing.assert_array_equal(predictions(Predictor(asked, X), X)[:, 0], model.predict(X))


def test_lightgbm_file_with_categories(mixed, level, tmp_path):
    """The table comes from a CSV file, where categories are text."""
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is optional")
    X = mixed.drop(columns="town")
    settings = {"n_estimators": 3, "n_jobs": 1, "verbose": -1, "min_child_samples": 3}
    model = lightgbm.LGBMClassifier(**settings).fit(X, level)
    model.booster_.save_model(tmp_path / "model.txt")
    read = X.assign(sky=X["sky"].astype(str))
    predictor = Predictor(load_model(tmp_path / "model.txt"), read)
    np.testing.assert_array_equal(predictions(predictor, read), model.predict_proba(X))


def test_catboost_file(mixed, level, tmp_path):
    catboost = pytest.importorskip("catboost", reason="catboost is optional")
    settings = {"iterations": 3, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostClassifier(cat_features=["sky", "town"], **settings).fit(mixed, level)
    model.save_model(str(tmp_path / "model.cbm"))
    predictor = Predictor(load_model(tmp_path / "model.cbm"), mixed)
    assert predictor.output_names == ("low", "mid", "top")
    np.testing.assert_array_equal(predictions(predictor, mixed), model.predict_proba(mixed))


def test_onnx_file(X, verdict, tmp_path):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx makes the graph")
    pytest.importorskip("onnxruntime", reason="onnxruntime is optional")
    matrix = X.to_numpy(dtype=np.float32)
    model = LogisticRegression().fit(matrix, verdict)
    path = tmp_path / "model.onnx"
    path.write_bytes(skl2onnx.to_onnx(model, matrix[:1]).SerializeToString())
    predictor = Predictor(load_model(path), matrix)
    assert predictor.output_names == ("yes",)
    expected = second(model.predict_proba(matrix))
    np.testing.assert_allclose(predictions(predictor, matrix)[:, 0], expected, rtol=1e-5)


# -- files that run code --------------------------------------------------------------------------


class Bomb:
    """Leaves a trace when it is opened."""

    def __init__(self, trace: Path):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("ending", ["pkl", "pickle", "joblib", "PKL"])
def test_pickles_are_refused_unopened(ending, tmp_path):
    path, trace = tmp_path / f"model.{ending}", tmp_path / "trace"
    joblib.dump(Bomb(trace), path)
    with pytest.raises(InputError, match=r"--trust \(trust=True\)"):
        load_model(path)
    with pytest.raises(InputError, match="runs code"):
        Predictor(path, np.ones((3, 2)))
    assert not trace.exists()
    load_model(path, trust=True)  # the proof that the refusal was needed
    assert trace.exists()


def test_trusted_pickles_open(X, amount, tmp_path):
    model = LinearRegression().fit(X, amount)
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = load_model(tmp_path / "model.joblib", trust=True)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_no_pickle_is_imported_anywhere():
    package = Path(files.__file__).parents[1]
    for source in package.rglob("*.py"):
        assert "import pickle" not in source.read_text(encoding="utf-8"), source


# -- files that are no models ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.skops", "model.onnx", "model.json", "model.txt", "model.cbm", "model.pkl"])
def test_no_such_file(name, tmp_path):
    with pytest.raises(InputError, match=rf"'.*{name}'; check the path"):
        load_model(tmp_path / name, trust=True)
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="there is no model file"):
        load_model(tmp_path / name, trust=True)


LIBRARY = {
    "skops": "skops.io",
    "onnx": "onnxruntime",
    "json": "xgboost",
    "ubj": "xgboost",
    "txt": "lightgbm",
    "cbm": "catboost",
    "pkl": "joblib",
}


@pytest.mark.parametrize("ending", LIBRARY)
@pytest.mark.parametrize("content", [b"temp,day\n1,2\n", b"", b'{"a": 1}'], ids=["csv", "empty", "json"])
def test_a_file_that_is_no_model(ending, content, tmp_path, capfd):
    pytest.importorskip(LIBRARY[ending], reason=f"{LIBRARY[ending]} is optional")
    path = tmp_path / f"table.{ending}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"table\.{ending}'") as caught:
        load_model(path, trust=True)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert capfd.readouterr() == ("", "")  # no library talks to the terminal on its own


def test_a_zip_that_is_no_skops_file(tmp_path):
    pytest.importorskip("skops.io", reason="skops is optional")
    with zipfile.ZipFile(tmp_path / "model.skops", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(InputError, match="no skops model"):
        load_model(tmp_path / "model.skops")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("model.jsn", "did you mean '.json'"), ("model.h5", "known are '.skops'"), ("model", r"\.skops, \.onnx")],
)
def test_unknown_endings(name, remedy, tmp_path):
    (tmp_path / name).touch()
    with pytest.raises(InputError, match=rf"like a model file; {remedy}"):
        load_model(tmp_path / name)


@pytest.mark.parametrize(("ending", "extra"), [("skops", "skops"), ("json", "xgboost"), ("cbm", "catboost")])
def test_a_missing_library_is_named_with_its_install_line(ending, extra, tmp_path, monkeypatch):
    for name in (extra, *(name for name in sys.modules if name.startswith(f"{extra}."))):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / f"model.{ending}").touch()
    with pytest.raises(MissingExtra, match=rf'pip install "pellucid\[{extra}\]"'):
        load_model(tmp_path / f"model.{ending}")
