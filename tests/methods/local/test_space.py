"""Explanations in other features than the model's: functions of rows, and maps there and back."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA

import pellucid
from methods.local.asking import explain, line, table
from pellucid.explanations.attribution_words import labels_of

WORDS = ("cheap", "price", "good", "bad")
MEANINGS = np.array(
    [
        [1.0, 0.5, -0.3, 0.0, 0.2, 0.4],
        [-0.6, 0.1, 0.9, 1.1, 0.0, -0.2],
        [0.4, -1.5, 0.1, 0.2, 1.3, -3.5],
        [0.0, 0.7, -1.2, 0.3, 0.8, 0.6],
    ]
)
EVERY = (np.arange(16)[:, None] >> np.arange(4)) & 1  # all sets of the four words


def said(X):
    """Which of the words a text holds, from the sum of their meanings."""
    return pd.DataFrame(np.asarray(X) @ np.linalg.pinv(MEANINGS) > 0.5, columns=list(WORDS))


def meant(Z):
    """The sum of the meanings of the words."""
    return np.asarray(Z, dtype=float) @ MEANINGS


def test_ex_40_six_numbers_of_a_model_are_one_word_of_four():
    """A model sees x, the sum of the meanings (embeddings) of a text's words; the explanation speaks of the words x'."""
    x = np.array([0.4, -1.5, 0.1, 0.2, 1.3, -3.5])
    np.testing.assert_array_equal(said(x[None]).to_numpy().astype(int), [[0, 0, 1, 0]])
    np.testing.assert_allclose(meant([[0, 0, 1, 0]]), x[None])
    slopes = np.array([0.3, -0.2, 0.5, 1.0, -0.7, 0.1])
    found = explain(line(slopes), EVERY @ MEANINGS, x, space=(said, meant))
    assert found.feature_names == WORDS
    assert labels_of(found, 0) == ["cheap = no", "price = no", "good = yes", "bad = no"]
    own = MEANINGS @ slopes  # what each word adds; it is the weight of being there, or minus that of being absent
    np.testing.assert_allclose(found.weights[0], own * [-1, -1, 1, -1], atol=1e-9)
    np.testing.assert_allclose(found.local_prediction, found.prediction)
    np.testing.assert_allclose(found.prediction, x @ slopes + 3.0)
    assert found.settings["space"] == ["said", "meant"]
    assert "mapped back for the model" in found.text()


def test_components_of_correlated_columns(tmp_path):
    """Three columns are one hidden number: in its terms the local model needs one feature and asks about rows that occur."""
    hidden = np.random.default_rng(0).normal(size=400)
    X = pd.DataFrame({name: scale * hidden for name, scale in (("a", 1.0), ("b", -2.0), ("c", 0.5))})
    components = PCA(1).fit(X)
    seen = []

    def to(rows):
        return pd.DataFrame(components.transform(rows), columns=["size"])

    def back(rows):
        return pd.DataFrame(components.inverse_transform(np.asarray(rows)), columns=list("abc"))

    def model(rows):
        seen.append(rows)
        return np.sin(rows["a"])

    found = explain(model, X, [3, 7], space=(to, back), checks=True, sampler="around", width=0.2)
    assert found.feature_names == ("size",)
    for rows in seen:
        np.testing.assert_allclose(rows["b"], -2 * rows["a"], atol=1e-9)
    slope = np.cos(X["a"].iloc[[3, 7]]) * components.components_[0, 0]
    np.testing.assert_allclose(found.weights[:, 0], slope, atol=0.02)
    assert "lossy-space" not in {caveat.code for caveat in found.caveats}
    assert found.plot().spec["$schema"]
    assert pellucid.load(found.save(tmp_path / "local.json")) == found


def test_a_mapped_classifier_keeps_its_classes_and_its_scale():
    X = table(200, 2)
    labels = np.where(X[:, 0] > 0, "yes", "no")

    class Model:
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, Z):
            p = 1 / (1 + np.exp(-Z[:, 0]))
            return np.column_stack([1 - p, p])

        def predict(self, Z):
            return self.classes_[(Z[:, 0] > 0).astype(int)]

        def fit(self, X, y):
            return self

    found = explain(
        Model(), X, 0, space=(lambda Z: Z[:, ::-1] / 10, lambda Z: 10 * np.asarray(Z)[:, ::-1]),
        explainer={"y": labels}, model="logistic",
    )  # fmt: skip
    assert found.output_names == ("yes",)
    assert found.scale == "log-odds"
    np.testing.assert_allclose(found.weights[0], [0.0, 10.0], atol=1e-3)


@pytest.mark.parametrize("checks", [False, True])
def test_a_space_that_forgets_a_feature_is_told(checks):
    """With the second feature forgotten the row comes back as another one: by exactly what that feature does."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    maps = (lambda Z: Z[:, :1], lambda Z: np.column_stack([Z, np.zeros(len(Z))]))
    row = int(np.argmax(np.abs(X[:, 1])))
    found = explain(line([1.0, 2.0]), X, row, space=maps, checks=checks)
    codes = {caveat.code: caveat for caveat in found.caveats}
    if not checks:
        assert codes == {}
        return
    spread = X[:, 0].std()  # of the predictions of the samples, which know the first feature only
    assert codes["lossy-space"].value == pytest.approx(2 * abs(X[row, 1]) / spread, rel=0.02)
    assert codes["local-miss"].value == pytest.approx(2 * abs(X[row, 1]) / spread, rel=0.02)
    assert found.prediction[0] == pytest.approx(line([1.0, 2.0])(X[[row]])[0])


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ((line([1, 1]),), "as a tuple has two functions"),
        (("raw", "raw"), "as a tuple has two functions"),
        ((lambda Z: Z[:1], lambda Z: Z), "gave 1 rows of readable features for 300"),
        ((lambda Z: Z, lambda Z: Z[:1]), "gave 1 rows of X for"),
        ((lambda Z: Z, lambda Z: Z[:, :1]), r"a back\(\) that gives no rows of X"),
        ({"a": line([1, 1]), "x0": "quartile"}, "has functions and, for 'x0', something else"),
        (lambda Z: np.full((len(Z), 1), np.nan), "no finite numbers"),
        (lambda Z: pd.DataFrame({"a": ["u"] * len(Z)}), "no finite numbers"),
    ],
)
def test_spaces_that_cannot_be(space, words):
    with pytest.raises(pellucid.InputError, match=words):
        explain(line([1.0, 1.0]), table(300, 2), 0, space=space)


def test_statements_about_rows_are_held_or_not():
    X = pd.DataFrame({"temp": np.linspace(-10, 30, 401), "wind": np.tile([0.0, 20.0, 40.0], 134)[:401]})

    def model(rows):
        return 7.0 * (rows["temp"] > 20) - 3.0 * (rows["wind"] > 30) + 0.1 * rows["temp"]

    space = {
        "warm": lambda rows: rows["temp"] > 20,
        "stormy": lambda rows: rows["wind"] > 30,
        "degrees": lambda rows: rows["temp"],
    }
    found = explain(model, X, 400, space=space)
    np.testing.assert_allclose(found.weights[0], [7.0, 3.0, 0.1], atol=1e-9)  # warm, not stormy, per degree
    assert labels_of(found, 0)[:2] == ["warm = yes", "stormy = no"]
    assert found.settings["space"] == {"warm": "<lambda>", "stormy": "<lambda>", "degrees": "<lambda>"}


@pytest.mark.parametrize("make", [lambda Z: Z[:, 0], lambda Z: pd.Series(Z[:, 0], name="first")])
def test_one_column_is_a_space(make):
    found = explain(line([2.0, 0.0]), table(200, 2), 3, space=make)
    assert found.feature_names in (("x0",), ("first",))
    np.testing.assert_allclose(found.weights[0], [2.0], atol=1e-9)


def test_weights_of_rows_count_in_the_callers_columns():
    X = table(60, 2)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    twice = np.repeat(X, weights, axis=0)
    one = explain(line([1.0, 2.0]), X, X[0], space=lambda Z: Z, explainer={"sample_weight": weights})
    other = explain(line([1.0, 2.0]), twice, X[0], space=lambda Z: Z)
    np.testing.assert_allclose(one.scales, other.scales)
    np.testing.assert_allclose(one.values, other.values)
