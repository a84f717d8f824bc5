"""Every caveat has a scene in which it fires, with the number one expects, and one in which it is silent."""

import re
from pathlib import Path

import pytest

import pellucid
from methods.caveat_scenes import FIRES, SILENT
from pellucid import Explainer

SCENES_OF_FIRE = [
    pytest.param(code, scene, id=f"{code}: {scene.__name__}") for code, of in FIRES.items() for scene in of
]
SCENES_OF_SILENCE = [
    pytest.param(code, scene, id=f"{code}: {scene.__name__}") for code, of in SILENT.items() for scene in of
]


@pytest.mark.parametrize(("code", "scene"), SCENES_OF_FIRE)
def test_fires_with_the_number_one_expects(code, scene):
    result, expected = scene()
    found = [caveat for caveat in result.caveats if caveat.code == code]
    assert found, [caveat.code for caveat in result.caveats]
    value = found[0].value
    if isinstance(expected, tuple):
        assert expected[0] <= value <= expected[1]
    else:
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert value <= found[0].threshold if code == "training-data" else value > found[0].threshold
    assert str(found[0]) in result.text()
    assert found[0].advice.endswith(".")


@pytest.mark.parametrize(("code", "scene"), SCENES_OF_SILENCE)
def test_stays_silent(code, scene):
    assert code not in {caveat.code for caveat in scene().caveats}


def test_every_caveat_in_the_source_has_both_tests():
    source = Path(pellucid.__file__).parent
    files = [*(source / "diagnostics").rglob("*.py"), *(source / "methods").rglob("*.py")]
    codes = {
        code for path in files for code in re.findall(r'code="([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert len(codes) >= 17
    assert codes == set(FIRES)
    assert codes == set(SILENT)


@pytest.mark.parametrize(
    "scene", [scene for of in FIRES.values() for scene in of], ids=lambda scene: scene.__name__
)
def test_no_checks_no_caveats(scene, monkeypatch):
    build = Explainer.__init__
    monkeypatch.setattr(
        Explainer, "__init__", lambda self, *a, **options: build(self, *a, **{**options, "checks": False})
    )
    assert scene()[0].caveats == ()
