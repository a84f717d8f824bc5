"""LIME beside anchors: lines inside their neighbourhood, boxes of the rules."""

import numpy as np
import pytest

from golden_files import titles
from pellucid import Explainer, InputError, teaching
from pellucid.charts.local.against_anchor import Pair, box_data, ellipse_data, lime_against_anchor, near_line_data

X = np.random.default_rng(0).uniform(-2, 2, size=(500, 2))
NAMES = ["left", "up"]


def explained(model, row, **options):
    ex = Explainer(model, X, feature_names=NAMES, checks=False)
    asked = dict(zip(NAMES, row, strict=True))
    local = ex.lime(asked, boundary=("left", "up"), width=1.0, **options)
    return local, ex.anchor(asked, within=1.0, bins={"left": [-1, 0, 1], "up": [-1, 0, 1]})


@pytest.fixture(scope="module")
def pair():
    local, rule = explained(lambda Z: 4.0 * (Z[:, 0] > 0) + Z[:, 1], (0.4, -0.5))
    return Pair(local, rule, local.boundary)


def test_the_line_is_where_the_local_model_passes_its_level_within_the_neighbourhood(pair):
    rows = near_line_data(pair, 0)
    assert rows
    for row in rows:
        apart = (np.array([row["x"], row["y"]]) - [0.4, -0.5]) / X.std(axis=0)
        assert (apart**2).sum() <= 1.0 + 1e-9  # the width, in standard deviations
        told = pair.local.local_prediction[0] + pair.local.weights[0] @ (apart * X.std(axis=0))
        assert told == pytest.approx(pair.boundary.level, abs=1e-6)
    round_ = np.array([[row["x"], row["y"]] for row in ellipse_data(pair, 0)])
    np.testing.assert_allclose((np.square((round_ - [0.4, -0.5]) / X.std(axis=0))).sum(axis=1), 1.0)


def test_the_box_is_the_rule_as_far_as_the_picture_goes(pair):
    box = box_data(pair)
    conditions = {condition.feature: condition for condition in pair.rule.conditions}
    assert conditions["left"].low == 0.0
    assert box["x"] == 0.0
    assert box["x2"] == min(conditions["left"].high, pair.boundary.grids[0][-1])
    assert np.isfinite([box["x"], box["x2"], box["y"], box["y2"]]).all()
    assert box["words"].startswith("precision 100%\ncoverage")
    assert box["rule"] == pair.rule.sentence


def test_what_cannot_be_shown():
    local, rule = explained(lambda Z: Z[:, 0], (0.5, 0.5))
    with pytest.raises(InputError, match="there is nothing to show"):
        lime_against_anchor()
    plain = Explainer(lambda Z: Z[:, 0], X, feature_names=NAMES, checks=False).lime(0)
    with pytest.raises(InputError, match="no boundary"):
        lime_against_anchor((plain, rule))
    other = Explainer(lambda Z: 4.0 * (Z[:, 0] > 0), X, feature_names=["a", "b"], checks=False)
    with pytest.raises(InputError, match="left and up"):
        lime_against_anchor((local, other.anchor(0, within=1.0)))


def test_the_picture_that_teaches_has_two_panels_and_all_it_says(golden):
    spec = teaching.lines_and_boxes().spec
    golden("charts", "LIME and anchors side by side", titles(spec))
    assert str(spec).count("\\ncoverage") >= 2
