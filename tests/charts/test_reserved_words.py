"""A category or a column may have a name that every object of JavaScript has."""

import re

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer
from pellucid.charts.chart import Chart
from pellucid.errors import PellucidError

NAMES = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "Ferrari"]


@pytest.fixture(scope="module")
def explainer():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"team": rng.choice(NAMES, 200), "valueOf": rng.normal(size=200)})
    return Explainer(lambda X: X["team"].map(NAMES.index).astype(float) + X["valueOf"], X, progress=False)


DRAWN = {
    "pdp": lambda ex: ex.pdp("team"),
    "ale": lambda ex: ex.ale("team"),
    "mplot": lambda ex: ex.mplot("team"),
    "ice": lambda ex: ex.ice("team"),
    "pairs": lambda ex: ex.pdp(["team", "valueOf"]),
    "importance": lambda ex: ex.importance(method="pdp"),
    "shap": lambda ex: ex.shap(0),
    "summary": lambda ex: ex.shap(range(40)),
}


@pytest.mark.parametrize("what", DRAWN)
def test_every_name_is_drawn(explainer, what, tmp_path):
    path = DRAWN[what](explainer).plot().save(tmp_path / "chart.svg")
    picture = path.read_text(encoding="utf-8")
    said = NAMES if what in ("pdp", "ale", "mplot", "ice", "pairs") else ["valueOf"]
    for name in said:
        assert re.search(rf"[>:= ]{name}", picture), name


def test_a_chart_that_cannot_be_drawn_is_an_error(explainer, tmp_path, monkeypatch):
    monkeypatch.setattr("pellucid.charts.chart.without_reserved", lambda spec: spec)
    chart = explainer.pdp("team").plot()
    assert isinstance(chart, Chart)
    for ending in ("svg", "png", "pdf"):
        with pytest.raises(PellucidError):
            chart.save(tmp_path / f"chart.{ending}")
