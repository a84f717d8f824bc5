"""Sentences live in tests/golden: tests compare with hardly any of their own, so that rewording breaks one file, not fifty."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from golden_files import FOLDER, laid_out, masked, sections, titles, write

TESTS = Path(__file__).parents[1]
WORDS = 6  # a name, its value and the remedy are fewer
MOST = 8  # labels, paths and scripts that read like one
WORD = re.compile(r"(?<![\w'=(./])[A-Za-z][a-z]*(?:'s)?(?![\w='(/])")


def texts(node: ast.AST) -> Iterator[str]:
    """The strings of an expression, in lists and calls too; of an f-string what is written out."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield " ".join(part.value for part in node.values if isinstance(part, ast.Constant))
    elif isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.BinOp | ast.Call):
        for inner in ast.iter_child_nodes(node):
            yield from texts(inner)


def sentences(source: str) -> list[str]:
    """Texts of six words or more that something is compared with: by ``in`` and ``==``, ``startswith`` and the like, ``match=``."""
    found = []
    for node in ast.walk(ast.parse(source)):
        compared: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            compared = [node.left, *node.comparators]
        elif isinstance(node, ast.keyword) and node.arg == "match":
            compared = [node.value]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("startswith", "endswith", "search"):
            compared = list(node.args)
        found += [text for part in compared for text in texts(part) if len(WORD.findall(text)) >= WORDS]
    return found


def test_hardly_any_sentence_is_written_in_a_test():
    files = [path for path in TESTS.rglob("*.py") if path != Path(__file__)]
    found = [f"{path.relative_to(TESTS)}: {text}" for path in files for text in sentences(path.read_text("utf-8"))]
    assert len(found) <= MOST, "hand these to golden(kind, section, text):\n" + "\n".join(found)


def test_the_count_itself_finds_sentences():
    assert sentences('assert "The prediction is higher than it was" in text')
    assert sentences('assert found == ["a", f"The prediction of {row} is higher than usual"]')
    assert sentences('with pytest.raises(E, match=r"the rows to explain lack .* the feature"): pass')
    assert not sentences("assert 'k must be' in text or match(text, \"did you mean .kernel.\")")


def test_numbers_are_masked_and_names_are_not():
    assert masked("x0 = -1,234.5 (95% of 3) contributed +2e-05.") == "x0 = # (#% of #) contributed #."


def test_each_sentence_has_a_line():
    assert laid_out("One. Two is 0.5.\n1. Three! Four") == "One.\n  Two is 0.5.\n1. Three!\n  Four"
    assert laid_out(["One.", "Two."]) == "One.\nTwo."


def test_titles_of_a_chart_are_read_once():
    axis = {"encoding": {"x": {"title": "share"}}}
    spec = {"title": {"text": ["A", "chart"], "subtitle": ["below"]}, "layer": [axis, axis], "datasets": {"d": [axis]}}
    assert titles(spec) == ["A chart", "below", "share"]


def test_files_come_back_as_they_were_written(tmp_path, monkeypatch):
    monkeypatch.setattr("golden_files.FOLDER", tmp_path)
    said = {"b: two": "Two.\n  More.", "a": "One."}
    write("kind", said)
    assert sections("kind") == said
    assert list(sections("kind")) == sorted(said)
    write("kind", {})
    assert sections("kind") == {}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_golden_files_are_as_they_would_be_written(path, tmp_path, monkeypatch):
    found = sections(path.stem)
    assert all(found.values())
    monkeypatch.setattr("golden_files.FOLDER", tmp_path)
    write(path.stem, found)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
