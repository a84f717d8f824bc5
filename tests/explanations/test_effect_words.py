"""What effects and associations say of themselves: the shape, the extremes, what is missing and how rows differ."""

import re

import numpy as np
import pandas as pd
import pytest

import pellucid
from charts.chart_examples import associations, caveat
from pellucid import Explainer
from pellucid.explanations.effect_words import headline
from pellucid.explanations.interpolation import interpolated

N = 101
STEPS = np.linspace(0.0, 10.0, N)
TABLE = pd.DataFrame(
    {
        "temp": STEPS,
        "hum": np.tile([20.0, 60.0], N)[:N],
        "season": np.tile(["fall", "spring", "summer"], N)[:N],
        "day": pd.date_range("2024-01-01", periods=N),
    }
)


def of(model, table=TABLE, **options):
    return Explainer(model, table, progress=False, checks=False, **options)


SHAPES = {
    "flat": lambda X: 0 * X["temp"] + 7,
    "straight line": lambda X: 3 - 2 * X["temp"],
    "rising": lambda X: X["temp"] ** 2,
    "falling": lambda X: 1 / (1 + X["temp"]),
    "up and down": lambda X: (X["temp"] - 4) ** 2,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", ["pdp", "ale", "mplot"])
def test_the_shape_of_a_curve(method, shape, golden):
    effect = getattr(of(SHAPES[shape]), method)("temp")
    golden("effect", f"{method}, {shape}", effect.text())


def test_kinds_of_features(golden):
    def model(X):
        return X["season"].map({"fall": 1.0, "spring": 2.0, "summer": 4.0}) + X["day"].dt.month

    golden("effect", "pdp, categories", of(model).pdp("season").text())
    golden("effect", "pdp, dates", of(model).pdp("day").text())


def test_missing_values_are_told_apart(golden):
    table = TABLE.assign(temp=TABLE["temp"].where(TABLE.index % 4 > 0))
    effect = of(lambda X: X["temp"].fillna(-5), table).pdp("temp", at=[1.0, 2.0, 4.0])
    assert effect.missing.share == pytest.approx(26 / 101)
    golden("effect", "pdp, missing values", effect.text())


def test_missing_is_a_level_like_others(golden):
    table = TABLE.assign(season=TABLE["season"].where(TABLE.index % 4 > 0))
    effect = of(lambda X: X["season"].map({"fall": 1.0, "spring": 2.0, "summer": 4.0}).fillna(9.0), table).pdp("season")
    assert np.atleast_1d(effect.missing.values)[0] > effect.average.max()
    said = effect.findings()
    assert len(said) == 2  # told once
    assert said[1].index("missing") < said[1].index("fall")
    golden("effect", "pdp, categories, highest where missing", effect.text())


@pytest.mark.parametrize("weight", [1.0, 1000.0])
def test_values_that_rest_on_few_rows_are_not_quoted(weight):
    rare = TABLE.assign(season=["rare", "rarer"] + ["spring", "summer"] * 49 + ["spring"])
    model = Explainer(
        lambda X: (
            X["season"].map({"rare": 100.0, "rarer": -9.0, "spring": 2.0, "summer": 4.0}).astype(float) + 0 * X["temp"]
        ),
        rare,
        sample_weight=np.full(N, weight),
        progress=False,
    )
    for effect in (model.pdp("season"), model.ale("season", order=["rare", "rarer", "spring", "summer"])):
        assert "few-data" in {item.code for item in effect.caveats}
        said = effect.findings()[1]
        assert "rare" not in said
        assert said.index("summer") < said.index("spring")


def test_a_level_of_few_rows_is_not_quoted_without_a_caveat_either():
    rare = TABLE.assign(season=["rare"] * 2 + ["spring", "summer"] * 49 + ["spring"])
    effect = of(lambda X: X["season"].map({"rare": 100.0, "spring": 2.0, "summer": 4.0}).astype(float), rare).pdp(
        "season"
    )
    assert not effect.caveats
    assert "rare" not in effect.findings()[1]


def test_a_stretch_that_rests_on_few_rows_is_not_quoted():
    tail = TABLE.assign(temp=np.concatenate([np.linspace(0.0, 1.0, 98), [50.0, 60.0, 100.0]]))
    effect = Explainer(lambda X: X["temp"] ** 2, tail, progress=False).pdp("temp", grid=10)
    assert "few-data" in {item.code for item in effect.caveats}
    assert "100" not in effect.findings()[1]


class Shares:
    """Three classes whose probabilities are known."""

    classes_ = np.array(["no", "perhaps", "yes"])

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        p = X["temp"].to_numpy() / 10
        return np.column_stack([0.9 - 0.8 * p, np.full(len(p), 0.1), 0.8 * p])


def test_the_class_that_changes_most_comes_first():
    class Two(Shares):
        def predict_proba(self, X):
            p = X["temp"].to_numpy() / 10
            return np.column_stack([0.5 - 0.1 * p, 0.4 - 0.2 * p, 0.1 + 0.3 * p])

    said = of(Two()).pdp("temp").findings()[1:]
    assert ["yes" in said[0], "perhaps" in said[1], "no" in said[2]] == [True] * 3


def test_classes(golden):
    golden("effect", "pdp, three classes", of(Shares()).pdp("temp").text())
    golden("effect", "pdp, one class", of(Shares(), output="yes").pdp("temp").text())


def test_individual_curves(golden):
    parallel = of(lambda X: X["temp"] + X["hum"])
    golden("effect", "ice, in parallel", parallel.ice("temp").text())
    golden("effect", "ice, centred", parallel.ice("temp", center=0.0).text())
    effect = of(lambda X: X["temp"] * (X["hum"] > 40)).ice("temp")
    assert effect.colouring.feature == "hum"
    golden("effect", "ice, rows that differ", effect.text())


@pytest.mark.parametrize("method", ["pdp", "ale"])
def test_two_features(method, golden):
    effect = getattr(of(lambda X: X["temp"] * (X["hum"] > 40)), method)(("temp", "hum"))
    golden("effect", f"{method}, two features", effect.text())


def test_extremes_of_a_joint_effect_are_told_where_rows_are():
    """Rows lie along a line; the corner beside it, where the effect is 49, belongs to a cell with rows but has none near."""
    rng = np.random.default_rng(0)
    a = np.sort(rng.uniform(0, 10, 200))
    table = pd.DataFrame({"a": a, "b": a + rng.uniform(-1.5, 1.5, 200)})
    effect = of(lambda X: -X["a"] * X["b"], table).ale(("a", "b"), bins=2)
    told = [float(v) for v in re.findall(r"[ab] = (-?[\d.]+)", headline(effect))]
    nearest = [np.abs(table - place).sum(axis=1).min() for place in (told[:2], told[2:])]
    assert max(nearest) < 0.02
    corner = np.abs(effect.values).max()
    said = [float(v) for v in re.findall(r"\(([-+][\d.]+)\)", headline(effect))]
    assert corner > 1.5 * max(map(abs, said))
    assert said == pytest.approx([effect.value(*told[:2]), effect.value(*told[2:])], abs=0.05)


def at_rows(effect):
    return interpolated(effect, effect.average[..., None], effect.rug, beyond=True)[:, 0]


def test_interpolating_at_rows_is_the_value_at_each_row():
    effect = of(lambda X: X["temp"] * (X["hum"] > 40)).ale(("temp", "hum"), bins=5)
    each = [effect.value(a, b) for a, b in zip(*effect.rug, strict=True)]
    np.testing.assert_array_equal(at_rows(effect), each)
    with pytest.raises(pellucid.InputError, match="temp = 11"):
        effect.value(11, 20)
    with pytest.raises(pellucid.InputError, match="temp = 'warm'"):
        effect.value("warm", 20)
    dates = of(lambda X: X["temp"] * (X["season"] == "fall")).pdp(
        ("season", "temp"), at=[["fall", "spring"], [2.0, 4.0]]
    )
    assert dates.value("fall", 3) == pytest.approx(3)
    shown = at_rows(dates)
    season, temp = (np.asarray(column) for column in dates.rug)
    inside = (season != "summer") & (temp >= 2) & (temp <= 4)
    np.testing.assert_array_equal(np.isfinite(shown), inside)
    np.testing.assert_allclose(shown[inside], np.where(season == "fall", temp, 0)[inside])


def test_associations(golden):
    golden("associations", "seven features", associations().text())
    golden("associations", "with a caveat", associations(caveats=(caveat(),)).text())
    golden("associations", "one feature", associations(1).text())
