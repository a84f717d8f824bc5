"""Assertions that cannot fail are rejected: a comparison thrown away, np.allclose without assert, and the like."""

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CHECKING = ("assert", "raises", "warns", "fail", "golden")  # how calls begin that can fail
CHECKS = {"allclose", "array_equal", "isclose", "isfinite", "all", "any", "equals"}


@dataclass
class Survey:
    """A file, read once: lines that never fail, helpers that check, and tests that do not, with what they call."""

    vacuous: list[tuple[int, str]] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)
    silent: list[tuple[int, str, set[str]]] = field(default_factory=list)


@cache
def survey(source: str) -> Survey:
    found = Survey()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr):
            value = node.value
            if isinstance(value, ast.Compare) or (isinstance(value, ast.Call) and name_of(value) in CHECKS):
                found.vacuous.append((node.lineno, "its result is thrown away"))
        elif isinstance(node, ast.Assert):
            if isinstance(node.test, ast.Constant) and node.test.value:
                found.vacuous.append((node.lineno, "asserts a constant"))
            elif isinstance(node.test, ast.Tuple) and node.test.elts:
                found.vacuous.append((node.lineno, "asserts a tuple, which is always true"))
        elif isinstance(node, ast.FunctionDef):
            inside = list(ast.walk(node))
            called = {name_of(inner) for inner in inside if isinstance(inner, ast.Call)}
            checking = any(name.startswith(CHECKING) for name in called)
            checking = checking or any(isinstance(inner, ast.Assert) for inner in inside)
            if not node.name.startswith("test_"):
                found.helpers |= {node.name} if checking else set()
            elif not checking:
                found.silent.append((node.lineno, node.name, called))
    return found


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def vacuous(source: str) -> list[tuple[int, str]]:
    """Lines that look like a check but can never fail."""
    return survey(source).vacuous


@cache
def checkers() -> set[str]:
    """Names of helper functions in the tests that check something."""
    return set().union(*(survey(path.read_text(encoding="utf-8")).helpers for path in TESTS.rglob("*.py")))


def silent_tests(source: str, helpers: set[str]) -> list[tuple[int, str]]:
    """Test functions in which nothing is asserted, neither there nor in a helper they call."""
    return [(line, f"{name} asserts nothing") for line, name, called in survey(source).silent if not called & helpers]


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_no_assertion_that_cannot_fail(path):
    source = path.read_text(encoding="utf-8")
    assert vacuous(source) + silent_tests(source, checkers()) == []


@pytest.mark.parametrize(
    "line",
    ["np.allclose(a, b)", "a == b", "assert (a == b, 'message')", "assert True", "all(x)", "np.testing.x; a < b"],
)
def test_the_check_itself_finds_vacuous_lines(line):
    assert vacuous(line)


def test_the_check_itself_passes_real_assertions():
    assert not vacuous("assert np.allclose(a, b)\nassert a == b, 'message'\nnp.testing.assert_allclose(a, b)")
    assert silent_tests("def test_x():\n    f()", {"g"}) == [(1, "test_x asserts nothing")]
    assert silent_tests("def test_x():\n    g()", {"g"}) == []
