"""What one reads of a classifier: probabilities in percent and changes in points everywhere, classes by their names."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression

from pellucid import Explainer
from pellucid.diagnostics.interactions import weak_joint
from pellucid.diagnostics.sampling_noise import missed_tolerance
from pellucid.parts.checks import _absence

# A prediction, a contribution or a constant that is neither a percentage nor in points.
BARE = re.compile(
    r"(?:contributed|runs from|constant is|prediction is|difference is|rather than|by about)"
    r" [+-]?\d[\d.,]*\d(?![\d.,]*(?:%| pp| ±))"
)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "c": rng.normal(size=300), "idle": rng.normal(size=300)})
    X["b"] = X["a"] + 0.3 * rng.normal(size=300)
    X["level"] = pd.Categorical(rng.choice(["u", "v"], 300))
    y = (X["a"] * X["c"] + X["b"] + 0.3 * rng.normal(size=300) > 0).astype(int)
    numbers = ["a", "b", "c"]

    class Model:
        """Reads three columns; two have no say."""

        classes_ = np.array([0, 1])
        inner = GradientBoostingClassifier(n_estimators=30, max_depth=3, random_state=0).fit(X[numbers], y)

        def predict_proba(self, table):
            return self.inner.predict_proba(table[numbers])

    return Explainer(Model(), X, y, class_names=["bad", "good"], background=60, progress=False)


ASKED = {
    "shap": lambda ex: ex.shap(3),
    "breakdown": lambda ex: ex.breakdown(3),
    "lime": lambda ex: ex.lime(3),
    "decompose": lambda ex: ex.decompose(features=["a", "b", "c"]),
    "pdp": lambda ex: ex.pdp("a"),
    "ale": lambda ex: ex.ale("a"),
    "counterfactuals": lambda ex: ex.counterfactuals(3),
}


def test_the_pattern_finds_what_is_off_scale():
    for wrong in ("The constant is 0.238.", "runs from -0.0987 to", "age = 3 contributed +0.12."):
        assert BARE.search(wrong)
    for right in ("The constant is 23.8%.", "contributed +1.2 pp", "contributed -5 ± 1.65 pp", "runs from -9 pp to"):
        assert not BARE.search(right)


@pytest.mark.parametrize("verb", ASKED)
def test_probabilities_are_told_in_percent_and_changes_in_points(people, verb):
    found = ASKED[verb](people)
    said = [found.text(), *(str(caveat) for caveat in found.caveats)]
    assert not [sentence for sentence in said if BARE.search(sentence)]
    assert "good" in said[0]


def test_the_order_of_a_break_down_is_told_in_points(people):
    orders = [str(caveat) for i in range(6) for caveat in people.breakdown(i).caveats if caveat.code == "order"]
    assert orders
    assert all(said.count(" pp") == 2 for said in orders)


def test_outcomes_go_by_the_names_of_their_classes(people):
    near, typical = people.neighbors(0, n=20), people.prototypes(3)
    assert re.search(r"Their outcomes: (bad|good) \(\d+\)", near.text())
    assert set(near.frame()["outcome"].astype(str)) <= {"bad", "good"}
    assert set(typical.frame()["outcome"].astype(str)) <= {"bad", "good"}


def test_what_has_no_part_in_it_is_not_ranked(people):
    said = people.shap([0, 1, 2]).text()
    assert "idle and level contribute nothing." in said
    assert "(0 pp)" not in said


def test_levels_that_no_digit_tells_apart_are_not_ranked(golden):
    X = pd.DataFrame({"k": pd.Categorical(["u", "v"] * 30), "x": np.linspace(0, 1, 60)})
    found = Explainer(lambda t: 5 + t["x"] + 1e-9 * (t["k"] == "u"), X, progress=False, checks=False).pdp("k")
    golden("effect", "pdp, levels that no digit tells apart", found.text())


def test_two_features_without_a_joint_effect_have_no_highest_place(golden):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)), columns=["a", "b"])
    ex = Explainer(lambda t: 0.0 * t["a"], X, progress=False, checks=False)
    golden("effect", "ale, two features without a joint effect", ex.ale(("a", "b")).text())


def test_whole_numbers_are_drawn_whole():
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    X = pd.DataFrame({"amount": np.round(1000 * x**2 + 50 * rng.normal(size=150)).astype(int), "x": x})
    y = X["amount"] / 1000 + X["x"]
    found = Explainer(LinearRegression().fit(X, y), X, y, progress=False, checks=False).importance(method="conditional")
    assert "kernel ridge" in found.settings["conditional"] or "inverse" in found.settings["conditional"]
    assert (found.values > 0).all()


def test_one_fact_about_several_features_is_one_caveat():
    rng = np.random.default_rng(0)
    z, w = rng.normal(size=(2, 400, 1))
    X = np.hstack([z + 0.2 * rng.normal(size=(400, 2)), w + 0.2 * rng.normal(size=(400, 2))])
    ex = Explainer(lambda t: t @ [4.0, 3.0, 2.0, 1.5], X, progress=False)
    for found in (ex.shap(0), ex.importance(), ex.lime(0), ex.pdp(("x0", "x2")), ex.importance(method="sobol")):
        (said,) = [caveat for caveat in found.caveats if caveat.code == "off-data"]
        assert "The same holds for" in said.message
        partner = re.search(r"correlated with (x\d)", said.message)[1]
        assert partner not in said.message.partition("The same holds for")[2]  # said already
    assert "ale(('x0', 'x2'))" in next(c for c in ex.pdp(("x0", "x2")).caveats if c.code == "off-data").advice


def test_a_tolerance_that_was_missed_is_told_in_points(people):
    found = people.shap(3)
    missed = replace(found, se=np.full_like(found.values, 0.02))
    missed.settings["tolerance"] = 0.01
    (said,) = missed_tolerance(missed)
    assert "1 pp" in said.message
    assert "±3.92 pp" in said.message


def test_predictions_of_an_image_without_its_parts_are_told_in_percent():
    part = [np.array([share]) for share in (0.2, 0.3, 0.9)]
    (said,) = _absence(part[0], part[1], {"absent=0": part[2]}, "probability")
    assert all(share in said.message for share in ("20% here", "90% with absent=0", "30%"))


def test_a_weak_joint_effect_is_told_for_its_class_and_in_points():
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = np.digitize(X[:, 0] + 0.1 * X[:, 1] * X[:, 2], [-0.5, 0.5])
    ex = Explainer(RandomForestClassifier(30, max_depth=5, random_state=0).fit(X, y), X, y, progress=False)
    found = ex.interactions()
    weak = replace(found, values=np.full_like(found.values, 0.5), joint=0.01 * found.joint)
    (said,) = weak_joint(weak)
    assert re.search(r"large H \(0\.\d+ for [012]\)", said.message)
    assert re.search(r"interaction is \S+ pp\.", said.message)
