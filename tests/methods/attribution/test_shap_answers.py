"""What a user asks and gets: shapes, scales, rows, tables, and refusals that name the remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestClassifier

import pellucid
from golden_files import masked
from methods.attribution.scenes import SMALL, coded, scene, table, two_classes
from pellucid import Explainer


@pytest.mark.parametrize(
    ("name", "outputs", "scale"),
    [
        ("forest", 1, "response"),
        ("forest of classes", 1, "probability"),
        ("forest of three classes", 3, "probability"),
        ("hist of classes", 1, "log-odds"),
        ("hist of three classes", 3, "score"),
        ("hist of counts", 1, "score"),
        ("xgboost of classes", 1, "log-odds"),
        ("lightgbm of three classes", 3, "score"),
    ],
)
@pytest.mark.parametrize("rows", [1, 4])
def test_user_pain_a5_shapes_do_not_depend_on_the_model(name, outputs, scale, rows):
    model, frame, y = scene(name)
    ex = Explainer(model, frame, y, progress=False, checks=False)
    for found in (ex.shap(list(range(rows)), interactions=True), ex.shap(frame.iloc[:rows], interactions=True)):
        last = () if outputs == 1 else (outputs,)
        assert found.values.shape == found.se.shape == (rows, 5, *last)
        assert found.prediction.shape == (rows, *last)
        assert isinstance(found.base, np.ndarray)
        assert found.base.shape == last
        assert found.interaction_values.shape == (rows, 5, 5, *last)
        assert found.scale == scale
        assert len(found.output_names) == outputs
        np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction, rtol=1e-5, atol=1e-9)


def test_user_pain_a2_the_residual_is_on_the_result():
    """Single precision is no alarm, whatever the size of the predictions (A2)."""
    model, frame, y = scene("xgboost")
    model.fit(frame, 1e7 + y)
    found = Explainer(model, frame, progress=False).shap(range(10))
    assert found.method == "tree"
    worst = found.additivity
    np.testing.assert_allclose(found.residual, found.prediction - found.base - found.values.sum(axis=1))
    assert worst.residual == np.abs(found.residual)[worst.row]
    assert 0 <= worst.relative < 1e-6
    assert "not-additive" not in {caveat.code for caveat in found.caveats}


def test_user_pain_a6_the_scale_is_said_everywhere(golden):
    model, frame, y = scene("hist of classes")
    ex = Explainer(model, frame, y, progress=False)
    auto, odds, probability = (ex.shap(3, scale=scale) for scale in ("auto", "log-odds", "probability"))
    assert (auto.scale, odds.scale, probability.scale) == ("probability", "log-odds", "probability")
    assert auto.method == odds.method == probability.method == "tree"
    np.testing.assert_array_equal(auto.values, probability.values)
    assert "log-odds of yes" in odds.text()
    said = next(line for line in odds.text().splitlines() if "scale='probability'" in line)
    golden("attribution", "log-odds of trees", masked(said))
    assert "log-odds of yes" in str(odds.plot().spec)
    assert "probability of yes" in auto.text()
    assert "log-odds" not in auto.text()
    assert "probability of yes" in str(auto.plot().spec)
    p = model.predict_proba(frame)[:, 1]
    assert float(auto.prediction[0]) == pytest.approx(p[3])
    assert float(odds.prediction[0]) == pytest.approx(np.log(p[3] / (1 - p[3])))


def test_log_odds_of_an_explainer_are_those_of_its_trees():
    model, frame, y = scene("hist of classes")
    linked = Explainer(model, frame, y, link="logit", progress=False).shap(3)
    odds = Explainer(model, frame, y, progress=False).shap(3, scale="log-odds")
    np.testing.assert_allclose(linked.values, odds.values)
    assert (linked.method, linked.scale) == ("tree", "log-odds")


def test_log_odds_of_a_forest_are_asked_for():
    """The trees of a forest add up to probabilities, their log-odds do not."""
    frame = coded(table())
    model = RandomForestClassifier(**SMALL).fit(frame, two_classes(table()))
    found = Explainer(model, frame, progress=False).shap(3, scale="log-odds")
    same = Explainer(model, frame, link="logit", progress=False).shap(3)
    p = model.predict_proba(frame)[3, 1]
    assert (found.method, found.scale) == ("exact", "log-odds")
    assert float(found.prediction[0]) == pytest.approx(np.log(p / (1 - p)))
    np.testing.assert_allclose(found.values, same.values)
    back = Explainer(model, frame, link="logit", progress=False).shap(3, scale="probability")
    assert (back.scale, back.method) == ("probability", "tree")


def test_a_row_in_any_form():
    model, frame, y = scene("hist")
    ex = Explainer(model, frame, y, progress=False, checks=False)
    expected = ex.shap(7).values
    row = frame.iloc[7]
    for form in ([7], range(7, 8), np.int64(7), row, dict(row), frame.iloc[[7]], frame.iloc[7:8]):
        np.testing.assert_array_equal(ex.shap(form).values, expected)
    forest, numbers, _ = scene("forest")
    of_forest = Explainer(forest, numbers, progress=False)
    np.testing.assert_array_equal(of_forest.shap(numbers.to_numpy(dtype=float)[7]).values, of_forest.shap(7).values)


@pytest.mark.parametrize("name", ["forest", "boosted"])
def test_every_kind_of_table_gives_the_same_numbers(name):
    model, frame, y = scene(name)
    frame = frame.astype(float)
    model.fit(frame, y)
    expected = Explainer(model, frame, progress=False).shap(range(3), interactions=True)
    kinds = {
        "polars": pl.DataFrame(frame.to_dict("list")),
        "arrow": pa.table(frame.to_dict("list")),
        "numpy": frame.to_numpy(),
        "records": frame.to_dict("records"),
    }
    for kind, X in kinds.items():
        found = Explainer(model, X, progress=False).shap(range(3), interactions=True)
        assert found.method == "tree", kind
        np.testing.assert_allclose(found.values, expected.values, atol=1e-12, err_msg=kind)
        np.testing.assert_allclose(found.interaction_values, expected.interaction_values, atol=1e-12)
        assert found.feature_names == expected.feature_names
    assert isinstance(Explainer(model, kinds["polars"]).shap(0).frame(), pl.DataFrame)
    assert isinstance(Explainer(model, kinds["arrow"]).shap(0).frame(), pa.Table)


def test_user_pain_a7_weights_of_trees_are_duplicated_rows():
    model, frame, _y = scene("hist")
    weights = np.where(np.arange(len(frame)) % 3 == 0, 2, 1)
    weights[4] = 0
    rows = frame.iloc[:4]
    weighted = Explainer(model, frame, sample_weight=weights, progress=False).shap(rows, interactions=True)
    repeated = Explainer(model, frame.loc[np.repeat(frame.index, weights)], progress=False).shap(
        rows, interactions=True
    )
    assert weighted.method == repeated.method == "tree"
    np.testing.assert_allclose(weighted.values, repeated.values, atol=1e-9)
    np.testing.assert_allclose(weighted.interaction_values, repeated.interaction_values, atol=1e-9)
    np.testing.assert_allclose(weighted.base, repeated.base)


def test_threads_change_no_bit():
    model, frame, _y = scene("hist of three classes")
    many = pd.concat([frame] * 5, ignore_index=True)
    one, two = (Explainer(model, frame, n_jobs=n, progress=False).shap(many) for n in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)


def test_a_background_of_the_callers_own():
    model, frame, _y = scene("forest")
    few = frame.iloc[:9][list(frame.columns[::-1])]
    ex = Explainer(model, frame, background=few, progress=False)
    found = ex.shap(20)
    assert found.reference.rows == 9
    assert float(found.base) == pytest.approx(model.predict(frame.iloc[:9]).mean())
    np.testing.assert_allclose(found.values, ex.shap(20, method="exact").values, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("forest", {"method": "linear"}, "method='linear' needs a sum of one term per feature, but .* use method='auto'"),
        ("forest", {"method": "treee"}, "did you mean 'tree'"),
        ("forest", {"game": "conditional", "method": "tree"}, "cannot be used with the conditional game; use method='auto'"),
        ("forest", {"game": "causal"}, "game='causal' is not known"),
        ("forest", {"scale": "margin"}, "scale='margin' is not known"),
        ("forest", {"scale": "probability"}, "returns a response; use scale='auto'"),
        ("forest", {"scale": "log-odds"}, "scale='log-odds' needs probabilities, but .* returns a response"),
        ("forest", {"method": "exact", "game": "path"}, "use method='tree' with game='path'"),
        ("forest", {"budget": 0}, "budget must be"),
        ("forest", {"tolerance": -1.0}, "tolerance must be"),
        ("hist of classes", {"scale": "probability", "game": "path"}, "add up to log-odds, not to probability; use scale='log-odds'"),
        ("forest of classes", {"scale": "log-odds", "method": "tree"}, "add up to a probability, not to log-odds"),
    ],
)  # fmt: skip
def test_refusals_name_the_remedy(name, options, message):
    model, frame, y = scene(name)
    with pytest.raises(pellucid.InputError, match=message):
        Explainer(model, frame, y, progress=False).shap(0, **options)


def test_a_function_has_no_path_game():
    X = np.random.default_rng(0).normal(size=(20, 2))
    ex = Explainer(lambda Z: Z[:, 0], X, progress=False)
    for options in ({"game": "path"}, {"method": "tree"}):
        with pytest.raises(pellucid.InputError, match=r"needs trees, but .* use method='auto' and game='marginal'"):
            ex.shap(0, **options)
    with pytest.raises(pellucid.InputError, match="row 20 is out of range"):
        ex.shap(20)


@pytest.mark.parametrize("background", [0, -3, True])
def test_a_background_of_nothing(background):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(pellucid.InputError, match="background"):
        Explainer(lambda Z: Z[:, 0], X, background=background, progress=False).shap(0)
