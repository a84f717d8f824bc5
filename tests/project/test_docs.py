"""The examples in docstrings and in the README run."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import pellucid

MODULES = [
    module.name
    for module in pkgutil.walk_packages(pellucid.__path__, "pellucid.")
    if "_frame" not in module.name and "__main__" not in module.name
]
OPTIONAL = ("pellucid.models.",)
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith(OPTIONAL)])
def test_docstring_examples(name):
    failures, _ = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert failures == 0


def run_examples(file):
    """Runs the Python blocks of a page, one after another, and returns what they define."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / file).read_text(encoding="utf-8"), flags=re.S)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, file, "exec"), names)
    return names


def test_the_derivation_of_the_tree_engine():
    names = run_examples("docs/tree_engine.md")
    assert len(names["phi"]) == len(names["table"]) == 3


def test_the_page_on_shapley_values():
    names = run_examples("docs/shapley.md")
    assert (names["low"] < names["high"]).any()


def test_the_page_on_counterfactuals():
    names = run_examples("docs/counterfactuals.md")
    assert (names["good"](names["rows"]) > 0.5).all()
    assert not len(names["nothing"])


def test_the_page_on_influence():
    names = run_examples("docs/influence.md")
    assert names["found"].ranking(1)[0] == 17
    assert np.isin([5, 50, 150], names["suspects"].ranking(30)).sum() >= 2


def test_the_page_on_glass_boxes():
    names = run_examples("docs/glassbox.md")
    assert names["model"].coefficients()["temp"] > 0
    assert names["edited"].edits_[0].cost > 0


def test_the_page_on_prototypes():
    names = run_examples("docs/prototypes.md")
    assert len(names["table"]) == 9
    assert names["medoids"].mmd2 >= 0
    assert len(names["reasons"]) == 3


def test_readme_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # What is shown is how to ask; a tenth of the trees answer as well.
    monkeypatch.setitem(HistGradientBoostingRegressor.__init__.__kwdefaults__, "max_iter", 10)
    run_examples("README.md")
    assert (tmp_path / "report.html").stat().st_size > 100_000


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"],
    ids=lambda path: path.name,
)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (path.parent / link).exists(), link


def test_the_page_on_interactions():
    names = run_examples("docs/interactions.md")
    assert names["first"] == ("temp", "hum")
    assert list(names["edges"]) == [("temp", "hum")]


def test_the_page_on_decompositions():
    names = run_examples("docs/decomposition.md")
    assert names["same"]
    assert names["names"] == ("x1", "x2", "x1 × x2", "residual")


def test_the_page_on_local_models(capsys):
    names = run_examples("docs/lime.md")
    assert len(names["why"].selected[0]) == 2
    assert len(names["picked"]) == 3
    assert "the local model gives" in capsys.readouterr().out


def test_the_page_on_anchors():
    names = run_examples("docs/anchors.md")
    assert names["rule"].sentence.startswith("IF sex = female AND class = first THEN PREDICT 0.9 to 1.1")
    assert names["check"].precision == 1.0
    assert names["check"].applies == names["applies"].sum()
    assert 1 <= len(names["few"]) <= 3


def test_the_page_on_agreement(capsys):
    names = run_examples("docs/agreement.md")
    assert names["both"].likeness < -0.9
    assert "contradict each other" in capsys.readouterr().out


def test_the_page_on_the_audit():
    found = run_examples("docs/audit.md")["found"]
    assert {line.topic for line in found.lines if line.bad} >= {"correlated features", "one feature changed"}
    text = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
    assert all(f"| {line.topic} |" in text for line in found.lines)
