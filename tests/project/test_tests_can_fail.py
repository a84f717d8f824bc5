"""Assertions that cannot fail are rejected: a comparison thrown away, np.allclose without assert, and the like."""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CHECKS = {"allclose", "array_equal", "isclose", "isfinite", "all", "any", "equals"}


def vacuous(source: str) -> list[tuple[int, str]]:
    """Lines that look like a check but can never fail."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr):
            value = node.value
            name = getattr(getattr(value, "func", None), "attr", getattr(getattr(value, "func", None), "id", ""))
            if isinstance(value, ast.Compare) or (isinstance(value, ast.Call) and name in CHECKS):
                found.append((node.lineno, "its result is thrown away"))
        elif isinstance(node, ast.Assert):
            if isinstance(node.test, ast.Constant) and node.test.value:
                found.append((node.lineno, "asserts a constant"))
            elif isinstance(node.test, ast.Tuple) and node.test.elts:
                found.append((node.lineno, "asserts a tuple, which is always true"))
    return found


def checks(node: ast.AST) -> bool:
    """Whether something in here can fail: an assert, or a call of pytest.raises, np.testing.assert_..., golden and the like."""
    calls = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    names = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
    checking = any(name.startswith(("assert", "raises", "warns", "fail", "golden")) for name in names)
    return checking or any(isinstance(inner, ast.Assert) for inner in ast.walk(node))


def functions(source: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]


@cache
def checkers() -> set[str]:
    """Names of helper functions in the tests that check something."""
    sources = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    return {f.name for source in sources for f in functions(source) if not f.name.startswith("test_") and checks(f)}


def silent_tests(source: str, helpers: set[str]) -> list[tuple[int, str]]:
    """Test functions in which nothing is asserted, neither there nor in a helper they call."""
    found = []
    for node in functions(source):
        if not node.name.startswith("test_") or checks(node):
            continue
        names = {
            getattr(call.func, "attr", getattr(call.func, "id", ""))
            for call in ast.walk(node)
            if isinstance(call, ast.Call)
        }
        if not names & helpers:
            found.append((node.lineno, f"{node.name} asserts nothing"))
    return found


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
