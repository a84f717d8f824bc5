"""What influence says, tabulates and draws."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import pellucid
from golden_files import masked


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["size", "age", "noise"])
    X["kind"] = np.where(np.arange(n) % 10 == 0, 1.0, 0.0)
    y = 3 * X["size"] - X["age"] + rng.normal(size=n) * np.where(X["kind"] == 1, 6.0, 1.0)
    return X, y.to_numpy()


def regression(**options):
    X, y = table()
    return pellucid.Explainer(LinearRegression().fit(X, y), X, y, **options)


def test_sentences_say_the_finding_first(golden):
    ex = regression()
    for name, options in {
        "one prediction": {"rows": 3},
        "several predictions": {"rows": [3, 4]},
        "all predictions": {},
        "loss": {"on": "loss"},
        "a number of one's own": {"rows": range(9), "on": np.mean},
        "Cook's distance": {"method": "cook"},
        "coefficients": {"method": "dfbeta"},
        "sets of rows": {"together": "kind"},
    }.items():
        golden("influence", name, masked(ex.influence(**options).text()))
    X, y = table()
    classes = pellucid.Explainer(LogisticRegression().fit(X, y > 0), X, y > 0).influence(3)
    golden("influence", "a probability", masked(classes.text()))
    trees = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    golden("influence", "trees kept", masked(pellucid.Explainer(trees, X, y).influence(3).text()))
    few = ex.influence(refit=LinearRegression(), budget=40)
    golden("influence", "some rows tried", masked(few.text()))


def test_what_influential_rows_have_in_common():
    X, y = table(800)
    found = pellucid.Explainer(LinearRegression().fit(X, y), X, y).influence()
    assert "kind" in found.pattern.conditions
    assert found.pattern.strongest > 0.4
    rng = np.random.default_rng(1)
    calm = rng.uniform(size=(800, 1))
    plain = pellucid.Explainer(LinearRegression().fit(calm, calm[:, 0]), calm, calm[:, 0]).influence()
    assert plain.pattern.conditions == ""


def test_the_table_has_a_line_for_each_training_row_and_target():
    found = regression().influence([3, 4])
    frame = found.frame()
    assert list(frame.columns) == ["row", "target", "influence", "strength", "leverage", "residual"]
    assert len(frame) == 400
    assert frame["strength"].is_monotonic_decreasing
    first = frame[(frame["row"] == frame["row"][0])]
    assert np.allclose(first["influence"], found.values[found.ranking(1)[0]])
    assert list(regression().influence().frame().columns) == ["row", "influence", "strength", "leverage", "residual"]
    X, y = table()
    sort = np.digitize(y, [-2, 2])
    several = pellucid.Explainer(LogisticRegression(max_iter=500).fit(X, sort), X, sort).influence([0, 1])
    frame = several.frame()
    assert len(frame) == 200 * 2 * 3
    assert frame["output"].nunique() == 3
    i = several.ranking(1)[0]
    line = frame[(frame["row"] == i) & (frame["target"] == "1") & (frame["output"] == several.output_names[2])]
    assert np.isclose(line["influence"].iloc[0], several.values[i, 1, 2])


def test_charts_of_every_kind():
    found = regression().influence([3, 4])
    for kind in ("auto", "bar", "leverage"):
        assert found.plot(kind=kind).spec
    assert found.plot(target="4", kind="bar").spec
    with pytest.raises(pellucid.InputError, match="target must be one of"):
        found.plot(target="99")
    with pytest.raises(pellucid.InputError, match="kind must be one of"):
        found.plot(kind="checked")
    X, y = table()
    trees = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, y)
    assert pellucid.Explainer(trees, X, y).influence(3).plot(kind="checked").spec
