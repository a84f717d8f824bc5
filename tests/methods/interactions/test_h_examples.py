"""Worked examples of H on the real tables; skipped where the files are absent."""

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

from oracles.conftest import read
from pellucid import Explainer

CATEGORIES = ["season", "yr", "mnth", "holiday", "weekday", "workingday", "weathersit"]
YEARS = "Hormonal.Contraceptives..years."


def test_ex_35_bikes_interact_little_by_a_support_vector_machine():
    """The textbook: every feature's interactions explain less than a tenth of the variance."""
    table = read("bike.csv")
    X, y = table.drop(columns="cnt").assign(yr=table["yr"].astype(str)), table["cnt"].astype(float)
    encode = make_column_transformer(
        (OneHotEncoder(drop="first", sparse_output=False), CATEGORIES), remainder=StandardScaler()
    )
    width = encode.fit_transform(X).shape[1] + 1
    svm = make_pipeline(encode, SVR(C=1.0, gamma=1 / width, epsilon=0.1))
    model = TransformedTargetRegressor(svm, transformer=StandardScaler()).fit(X, y)
    result = Explainer(model, X, y, checks=False).interactions(against="all", rows=40)
    assert 0.005 < (result.values**2).max() < 0.1
    assert (result.high**2).max() < 0.1


def test_ex_35_years_with_contraceptives_are_among_the_first():
    """The textbook's forest: years with contraceptives first, pregnancies second, for the probability of cancer.

    Here years with contraceptives share the first place with the number of partners, whose interval overlaps,
    and the four that follow are within their intervals of each other, pregnancies among them.
    """
    table = read("cervical.csv")
    X, y = table.drop(columns="Biopsy"), table["Biopsy"]
    model = RandomForestClassifier(100, min_samples_leaf=3, random_state=2).fit(X, y)
    result = Explainer(model, X, y, output="Cancer", checks=False).interactions(against="all")
    assert result.settings["source"] == "trees"
    assert result.settings["rows"] == 858
    first = {result.sets[s][0] for s in result.ranking[:5]}
    assert {YEARS, "Num.of.pregnancies"} <= first
    years = result.position(YEARS)
    best = result.ranking[0]
    assert result.high[years] > result.low[best]
    assert result.values[years] == pytest.approx(0.31, abs=0.06)
    assert np.median(result.values) < 0.2
