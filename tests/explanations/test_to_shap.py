"""Contributions become an object of the package shap; where that is not installed, the error says what to do."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from explanations.test_attribution import attribution, classes
from pellucid import Explainer
from pellucid.errors import MissingExtra


@pytest.fixture
def recorded(monkeypatch):
    """A stand-in for the package shap that keeps what an Explanation is made of."""
    monkeypatch.setitem(sys.modules, "shap", SimpleNamespace(Explanation=SimpleNamespace))


@pytest.mark.usefixtures("recorded")
def test_one_output():
    made = attribution().to_shap()
    np.testing.assert_array_equal(made.values, attribution().values)
    assert made.base_values.tolist() == [10.0, 10.0]
    assert made.feature_names == ["temp", "season", "day"]
    assert made.output_names == "prediction"
    assert made.data[0].tolist() == [21.5, "fall", 3.0]
    assert made.data[1, 1] == "missing"
    assert made.values.flags.writeable  # a copy of its own


@pytest.mark.usefixtures("recorded")
def test_several_outputs_numbers_and_local_models():
    made = classes().to_shap()
    assert made.values.shape == (2, 3, 2)
    assert made.base_values.tolist() == [[10.0, 20.0], [10.0, 20.0]]
    assert made.output_names == ["no", "yes"]
    numbers = attribution(data=(np.array([1.0, np.nan]), np.array([1, 2]), np.array([True, False]))).to_shap()
    np.testing.assert_array_equal(numbers.data, [[1.0, 1.0, 1.0], [np.nan, 2.0, 0.0]])
    X = np.random.default_rng(0).normal(size=(60, 2))
    local = Explainer(lambda x: x[:, 0] * x[:, 1], X, checks=False).lime([3, 4], samples=300)
    np.testing.assert_array_equal(local.to_shap().base_values, local.bases)


def test_without_shap(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(MissingExtra, match=r"to_shap\(\) .*pip install shap"):
        attribution().to_shap()


def test_the_plots_of_shap_take_it():
    shap = pytest.importorskip("shap")
    figures = pytest.importorskip("matplotlib.pyplot")
    figures.switch_backend("Agg")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40), "city": rng.choice(["Oslo", "Rome"], 40)})
    ex = Explainer(lambda x: x["a"] * x["b"] + (x["city"] == "Oslo"), X, checks=False)
    made = ex.shap(range(20)).to_shap()
    assert isinstance(made, shap.Explanation)
    np.testing.assert_allclose(made.base_values + made.values.sum(axis=1), ex.shap(range(20)).prediction)
    assert made[:, "a"].values.shape == (20,)
    for draw in (shap.plots.bar, shap.plots.beeswarm, shap.plots.heatmap):
        draw(made, show=False)
        assert figures.gcf().axes
        figures.close("all")
    shap.plots.waterfall(made[0], show=False)
    said = {label.get_text() for label in figures.gca().get_yticklabels()}
    assert any("city" in label for label in said)
    figures.close("all")
