"""What effects and associations say of themselves: the shape, the extremes, what is missing and how rows differ."""

import numpy as np
import pandas as pd
import pytest

from charts.chart_examples import associations, caveat
from pellucid import Explainer

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


def test_associations(golden):
    golden("associations", "seven features", associations().text())
    golden("associations", "with a caveat", associations(caveats=(caveat(),)).text())
    golden("associations", "one feature", associations(1).text())
