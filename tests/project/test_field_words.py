"""The words people search for stand where they look: in the README, the docs and the docstrings."""

import ast
import re
from pathlib import Path

import pytest

import pellucid

ROOT = Path(__file__).parents[2]
WORDS = (
    "correlated features",
    "feature importance",
    "SHAP summary (beeswarm) plot",
    "local surrogate",
    "what-if",
    "KernelSHAP",
    "TreeSHAP",
    "interventional",
)
KINDS = ast.Module | ast.ClassDef | ast.FunctionDef
# The verb, and a word of the field that its docstring has to have.
VERBS = {
    "pdp": "partial dependence",
    "ice": "what-if",
    "ale": "correlated features",
    "importance": "feature importance",
    "clusters": "correlated features",
    "shap": "interventional",
    "lime": "local surrogate",
}


def flat(text):
    return re.sub(r"\s+", " ", text).lower()


def docstrings():
    """Those of the package, one text."""
    found = []
    for path in sorted((ROOT / "src/pellucid").rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        found += [ast.get_docstring(node) or "" for node in nodes if isinstance(node, KINDS)]
    return flat("\n".join(found))


@pytest.fixture(scope="module")
def places():
    docs = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
    return {"README": flat((ROOT / "README.md").read_text("utf-8")), "docs": flat(docs), "docstrings": docstrings()}


@pytest.mark.parametrize("place", ["README", "docs", "docstrings"])
@pytest.mark.parametrize("word", WORDS)
def test_the_words_of_the_field(places, place, word):
    assert word.lower() in places[place]


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_is_found_by_its_usual_name(verb):
    assert VERBS[verb] in flat(getattr(pellucid.Explainer, verb).__doc__)


def test_correlated_features_are_called_so():
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    files += [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests/golden").glob("*.txt")]
    said = re.compile(r"\b(go|goes|going|gone) together\b")
    assert [str(path) for path in files if said.search(flat(path.read_text("utf-8")))] == []
