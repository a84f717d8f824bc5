"""What an Explainer says of itself, and what it says of data that are probably not meant."""

import re
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

from golden_files import masked
from pellucid import Explainer, ImageExplainer, InputError, TextExplainer
from pellucid.data.no_features import no_features
from pellucid.errors import InputWarning


@pytest.fixture(scope="module")
def days():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"temp": rng.normal(20, 5, 120), "wind": rng.normal(10, 2, 120), "hour": rng.integers(0, 24, 120)})
    return X, pd.Series(3 * X.temp - X.wind + rng.normal(0, 1, 120), name="cnt")


# -- repr --------------------------------------------------------------------------------------------


def test_a_regression_says_what_it_is(days, golden):
    X, y = days
    said = repr(Explainer(LinearRegression().fit(X, y), X, y))
    golden("explainer", "regression", masked(said))
    for part in ("LinearRegression", "120 rows", "3 columns", "temp, wind", "as a sum"):
        assert part in said
    r2 = float(re.search(r"R² ([\d.]+)", said)[1])
    assert r2 == pytest.approx(LinearRegression().fit(X, y).score(X, y), abs=0.001)


def test_how_a_model_is_read_is_said_without_asking_it(days, golden):
    X, y = days
    forest = RandomForestClassifier(20, random_state=0).fit(X, y > 50)
    calls = []
    ex = Explainer(forest, X, y > 50, class_names=["few", "many"])
    asked = ex.predictor._ask
    ex.predictor._ask = lambda *a: calls.append(a) or asked(*a)
    said = repr(ex)
    assert calls == []
    golden("explainer", "classification", masked(said))
    for part in ("few and many", "accuracy 100%", "AUC 1", "from its trees"):
        assert part in said
    assert "by calling it" in repr(Explainer(lambda X: X.temp * X.wind, X))


def test_explainers_of_texts_and_images_say_what_they_are(golden):
    rising = ImageExplainer(
        lambda images: np.stack([images.mean((1, 2))] * 2, axis=1), class_names=["ill", "well"], absent=0
    )
    texts = TextExplainer(len, mask="UNK")
    golden("explainer", "of texts and images", f"{rising!r}\n{texts!r}")


def test_what_cannot_be_said_is_left_out(days):
    X, _ = days
    ex = Explainer(lambda X: X.temp, X, [f"text {i % 7}" for i in range(120)], checks=False)
    assert "score" not in repr(ex)
    wrong = Explainer(LinearRegression().fit(X, X.temp), X, [f"text {i % 7}" for i in range(120)])
    assert "score" not in repr(wrong)
    wide = Explainer(lambda X: X[:, 0], np.random.default_rng(0).normal(size=(30, 500)))
    start = time.perf_counter()
    assert "x7 and 492 more" in repr(wide)
    assert time.perf_counter() - start < 1


# -- said, not swallowed -----------------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
def test_the_outcome_among_the_features(days, library, golden):
    X, y = days
    with pytest.warns(InputWarning, match="'cnt' of X equals y") as said:
        Explainer(lambda X: np.asarray(X["temp"]), library(X.assign(cnt=y)), y)
    golden("explainer", f"outcome among the features, {library.__name__}", str(said[0].message))
    labels = np.where(y > 50, "many", "few")
    with pytest.warns(InputWarning, match="'busy' of X equals y"):
        Explainer(lambda X: np.asarray(X["temp"]), library(X.assign(busy=labels)), labels)


def test_images_are_no_table():
    with pytest.raises(InputError, match="ImageExplainer"):
        Explainer(lambda X: X[:, 0], np.zeros((4, 8, 8)))


def test_the_outcome_under_other_names(days, golden):
    X, y = days
    busy = (y > 50).to_numpy()
    with pytest.warns(InputWarning, match="'risk' of X") as said:
        Explainer(lambda X: X.temp, X.assign(risk=np.where(busy, "good", "bad")), busy.astype(int))
    golden("explainer", "outcome under other names", str(said[0].message))
    almost = np.where(busy, "good", "bad")
    almost[-1] = "bad" if busy[-1] else "good"
    Explainer(lambda X: X.temp, X.assign(risk=almost), busy.astype(int))
    Explainer(lambda X: X.temp, X.assign(town=np.where(X.temp > 20, "a", "b")), y)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("customer", [f"c{i}" for i in range(120)]),
        ("row", np.random.default_rng(0).permutation(120)),
        ("customer_id", np.random.default_rng(0).choice(10**6, 120, replace=False)),
    ],
)
def test_an_identifier(days, name, values, golden):
    X, y = days
    with pytest.warns(InputWarning, match=f"'{name}' of X") as said:
        Explainer(lambda X: X.temp, X.assign(**{name: values}), y)
    golden("explainer", f"identifier {name}", str(said[0].message))


def test_features_that_never_repeat_are_no_identifiers(days):
    X, y = days
    income = np.random.default_rng(0).choice(10**6, 120, replace=False)
    kind = [f"c{i % 60}" for i in range(120)]
    ex = Explainer(lambda X: X.temp, X.assign(income=income, kind=kind, width=income, days_since=range(120)), y)
    assert no_features(ex.data) == []


def test_names_beside_a_frame(days, golden):
    X, y = days
    model = LinearRegression().fit(X, y)
    with pytest.raises(InputError, match="names of its own") as said:
        Explainer(model, X, y, feature_names=["a", "b", "c"])
    golden("explainer", "names beside a frame", str(said.value))
    assert Explainer(model, X, y, feature_names=list(X.columns)).data.schema.names == ("temp", "wind", "hour")


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, "".join])
def test_texts_point_to_their_explainer(kind, golden):
    with pytest.raises(InputError, match="TextExplainer") as said:
        Explainer(len, kind(["a fine day", "rain again", "no more"]))
    golden("explainer", "texts", str(said.value))


def test_a_batch_of_images_is_no_image(golden):
    ex = ImageExplainer(lambda images: images.sum(axis=(1, 2)), segmenter="grid", segments=(2, 2))
    for shape in ((4, 8, 8), (9, 8, 8)):
        with pytest.raises(InputError, match=r"list\(images\)") as said:
            ex.shap(np.zeros(shape))
        golden("explainer", f"images {shape}", str(said.value))
