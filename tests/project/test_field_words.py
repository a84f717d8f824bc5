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


VERBS_OF_TEXTS = {
    "shap": "(shap)",
    "lime": "local surrogate",
    "anchor": "anchor",
    "importance": "word importance",
    "report": "local surrogate",
}
# What sentences said before they were said in the field's words.
RETIRED = (
    "asks the model about are unlike any row",
    "still tell what it did",
    "goes up and down from",
    "without that the model loses",
    "reading the model",
    "of the uncertainty of the class shares",
    "asked again",
    "is no number",
    "few enough",
    "by habit",
    "nobody would write",
    "no camera would take",
    "what was true of them",
    "none a part of another",
    "what holds else",
    "no rule pays",
    "without a mistake",
    "alike by",
)

# What README, docs and changelog claimed and counts did not bear out.
UNTRUE = (
    "every weakness the literature knows",
    "every result carries standard errors",
    "then known exactly",
    "leaves out as many as it can",
    "the average tells the whole story",
    "interactions count once for every feature",
    "127 times",
    "95-98%",
)


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


@pytest.mark.parametrize("claim", UNTRUE)
def test_claims_that_counts_did_not_bear_out_are_not_made_again(places, claim):
    changes = flat((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert [place for place, text in {**places, "changelog": changes}.items() if claim in text] == []


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_is_found_by_its_usual_name(verb):
    assert VERBS[verb] in flat(getattr(pellucid.Explainer, verb).__doc__)


@pytest.mark.parametrize("verb", VERBS_OF_TEXTS)
def test_each_verb_of_texts_is_found_by_its_usual_name(verb):
    assert VERBS_OF_TEXTS[verb] in flat(getattr(pellucid.TextExplainer, verb).__doc__)


@pytest.mark.parametrize("code", ["dependent-features", "off-data", "shared-importance", "clustered-features"])
def test_caveats_about_correlated_features_say_so(code):
    said = (ROOT / "tests/golden/caveats.txt").read_text("utf-8").split("\n== ")
    about = [flat(text) for text in said if text.startswith(f"{code}:")]
    assert about
    known = ("correlated", "associated", "depends on")  # the last of a curve that turns, which no correlation sees
    assert all(any(word in text for word in known) for text in about)


def spoken():
    """Texts in the source that are no docstrings, with the file each is in."""
    for path in sorted((ROOT / "src/pellucid").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        docs = {id(node.body[0].value) for node in nodes if isinstance(node, KINDS) and ast.get_docstring(node)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield path.name, flat(node.value)


def test_no_sentence_is_in_a_dialect_of_our_own():
    texts = list(spoken())
    assert len(texts) > 5000
    assert [(name, text) for name, text in texts if any(phrase in text for phrase in RETIRED)] == []
    golden = flat("\n".join(path.read_text("utf-8") for path in sorted((ROOT / "tests/golden").glob("*.txt"))))
    assert [phrase for phrase in RETIRED if phrase in golden] == []


def test_models_are_evaluated_or_called():
    """Not asked, in what users read."""
    asked = re.compile(
        r"\bmodels?( itself)? (that )?(is|are|was|were|has to be|have to be|can only be|need not be) (first )?asked\b"
    )
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    files += [*(ROOT / "src/pellucid/verbs").glob("*.py"), *(ROOT / "tests/golden").glob("*.txt")]
    said = {path.name: flat(path.read_text("utf-8")) for path in files}
    assert {name: asked.search(text)[0] for name, text in said.items() if asked.search(text)} == {}


def test_correlated_features_are_called_so():
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    files += [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests/golden").glob("*.txt")]
    said = re.compile(r"\b(go|goes|going|gone) together\b")
    assert [str(path) for path in files if said.search(flat(path.read_text("utf-8")))] == []
