"""Every caveat has a scene in which it fires, with the number one expects, and one in which it is silent."""

import re
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import methods.example_scenes
import methods.linear_scenes
import methods.surrogate_scenes  # all register their scenes
import pellucid
from golden_files import masked
from methods.caveat_scenes import FIRES, SILENT
from pellucid import Explainer, ImageExplainer, TextExplainer
from pellucid.diagnostics import general_caveats, off_data
from pellucid.explanations.caveat import SAID
from pellucid.models import Predictor
from pellucid.runner import Run

SCENES_OF_FIRE = [
    pytest.param(code, scene, id=f"{code}: {scene.__name__}") for code, of in FIRES.items() for scene in of
]
SCENES_OF_SILENCE = [
    pytest.param(code, scene, id=f"{code}: {scene.__name__}") for code, of in SILENT.items() for scene in of
]


@pytest.mark.parametrize(("code", "scene"), SCENES_OF_FIRE)
def test_fires_with_the_number_one_expects(code, scene, golden):
    result, expected = scene()
    found = [caveat for caveat in result.caveats if caveat.code == code]
    assert found, [caveat.code for caveat in result.caveats]
    value = found[0].value
    if isinstance(expected, tuple):
        assert expected[0] <= value <= expected[1]
    else:
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert value <= found[0].threshold if code == "training-data" else value > found[0].threshold
    assert found[0] == max(found, key=lambda caveat: caveat.severity)
    assert 0.1 <= found[0].severity <= 1
    kinds = list(dict.fromkeys(caveat.code for caveat in result.caveats))
    assert (str(found[0]) in result.text()) == (code in kinds[:SAID])
    more = len(result.caveats) - len(kinds[:SAID])
    assert not more or f"- {more} more caveat" in result.text()
    assert found[0].advice.endswith(".")
    golden("caveats", f"{code}: {scene.__name__.replace('_', ' ')}", masked(str(found[0])))


@pytest.mark.parametrize(("code", "scene"), SCENES_OF_SILENCE)
def test_stays_silent(code, scene):
    assert code not in {caveat.code for caveat in scene().caveats}


def test_every_caveat_in_the_source_has_both_tests():
    source = Path(pellucid.__file__).parent
    files = [
        path for part in ("diagnostics", "explanations", "methods", "parts") for path in (source / part).rglob("*.py")
    ]
    codes = {code for path in files for code in re.findall(r'code="([^"]+)"', path.read_text(encoding="utf-8"))}
    assert len(codes) >= 17
    assert codes == set(FIRES)
    assert codes == set(SILENT)


EXPLAINED = [scene for of in FIRES.values() for scene in of if scene.__module__ != methods.linear_scenes.__name__]


@pytest.mark.parametrize("scene", EXPLAINED, ids=lambda scene: scene.__name__)  # a model is checked while it is fitted
def test_no_checks_no_caveats(scene, monkeypatch):
    for kind in (Explainer, TextExplainer, ImageExplainer):
        monkeypatch.setattr(kind, "__init__", partialmethod(kind.__init__, checks=False))
    found = scene()[0]
    assert [caveat.code for caveat in found.caveats] == ["partial"] * found.cost.interrupted  # a fact, not a check


@pytest.mark.parametrize("n", [1, 7, 40, 3000])
@pytest.mark.parametrize(("checks", "most"), [(True, 532), (False, 32)])
def test_the_rows_to_judge_the_model_by_are_asked_once(n, checks, most):
    X = np.random.default_rng(0).normal(size=(n, 2))
    asked = []
    explainer = Explainer(lambda Z: asked.append(len(Z)) or Z[:, 0], X, X[:, 1], checks=checks)
    assert len(asked) == 2
    assert sum(asked) <= most
    assert len(set(asked)) == 1 or max(asked) - min(asked) == 1  # batches of a size: rounding depends on it
    effect = explainer.pdp(0, at=[0.0])
    assert (sum(asked[2:]), effect.cost.check_rows) == (n, 0)
    assert ("poor-model" in {caveat.code for caveat in effect.caveats}) == (checks and n > 1)


@pytest.mark.parametrize("link", ["identity", "logit"])
def test_the_rows_asked_at_first_judge_as_those_of_a_call_of_their_own(link):
    X = np.random.default_rng(0).uniform(size=(700, 2))
    y = np.random.default_rng(1).uniform(size=700) < X[:, 0]
    model = LogisticRegression(C=1e4).fit(X, y)
    explainer = Explainer(model, X, ~y, link=link)
    data = explainer.data
    alone = general_caveats(Predictor(model, X, link=link), data, Run())
    assert alone
    assert set(alone) <= set(explainer.pdp(0, at=[0.5]).caveats)
    some = data.take(data.spread(500))
    np.testing.assert_array_equal(explainer.predictor.sample, Run().predict(explainer.predictor, some, full=True))


def test_a_model_that_reads_a_row_by_its_neighbours_is_unsteady():
    X = np.random.default_rng(0).normal(size=(300, 2))
    effect = Explainer(lambda Z: Z[:, 0] - Z[:, 0].mean(), X, X[:, 0]).pdp(0, at=[0.0])
    assert "unsteady-model" in {caveat.code for caveat in effect.caveats}


@pytest.mark.parametrize(
    ("correlation", "looked_at", "fires"), [(0.9, 600, True), (0.6, 3000, True), (0.5, 3000, False)]
)
def test_a_share_off_the_data_that_is_not_plain_is_looked_at_again_with_more_rows(correlation, looked_at, fires):
    X = np.random.default_rng(0).normal(size=(4000, 2))
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
    explainer = Explainer(lambda Z: Z[:, 0], X)
    effect = explainer.pdp(0, at=[0.0])
    seen = {rows: off_data._share_off_data(explainer.data, (0, 1), rows, points) for rows, points in off_data._LOOKS}
    assert len(set(seen.values())) == 2
    assert seen[600] > 0.12  # the first look would fire in any case: the last one counts
    found = [caveat.value for caveat in effect.caveats if caveat.code == "off-data"]
    assert found == ([seen[looked_at]] if fires else [])
