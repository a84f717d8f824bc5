"""Tests leave the thresholds of the package alone: what a test wants to set is an argument of the function that uses it,
or a limit of the run (`pellucid.runner.limits`).
"""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*")


def imports(tree: ast.AST) -> dict[str, str]:
    """The package that each imported name comes from."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                package = node.module or "" if isinstance(node, ast.ImportFrom) else alias.name
                found[alias.asname or alias.name.partition(".")[0]] = package.partition(".")[0]
    return found


def replaced(call: ast.Call, packages: dict[str, str]) -> tuple[str, str] | None:
    """What a call such as ``setattr(module, "NAME", ...)`` or ``patch("module.NAME", ...)`` replaces: of which package, and
    the name ("?" where it is not written out).
    """
    function = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if function not in ("setattr", "patch", "object") or not call.args:
        return None
    first, *others = call.args
    if isinstance(first, ast.Constant):
        owner, _, name = str(first.value).rpartition(".")
        return owner.partition(".")[0], name
    if function == "patch" or not others:
        return None
    package = packages.get(ast.unparse(first).partition(".")[0], "pellucid")
    return package, str(others[0].value) if isinstance(others[0], ast.Constant) else "?"


def patched(source: str) -> list[tuple[int, str]]:
    """Lines that replace a constant of the package, or something of it whose name cannot be read there."""
    if not re.search(r"setattr\(|patch\b", source):  # nothing to parse
        return []
    tree = ast.parse(source)
    packages = imports(tree)
    calls = ((node.lineno, replaced(node, packages)) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [
        (line, what[1])
        for line, what in calls
        if what is not None and what[0] == "pellucid" and (what[1] == "?" or CONSTANT.fullmatch(what[1]))
    ]


def test_no_threshold_is_patched():
    found = {path: patched(path.read_text(encoding="utf-8")) for path in sorted(TESTS.rglob("*.py"))}
    lines = [f"{path.relative_to(TESTS)}:{line}: {name}" for path, some in found.items() for line, name in some]
    assert not lines, "give it to the inner function as an argument instead:\n" + "\n".join(lines)


def test_what_counts_as_a_threshold():
    seen = [
        'monkeypatch.setattr(module, "_MOST_ROWS", 3)',
        'from pellucid.runner import run as runner\nmonkeypatch.setattr(runner, "MOST", 3)',
        'monkeypatch.setattr("pellucid.module.BUDGET", 3)',
        'mock.patch("pellucid.module._CELLS", 3)',
        'mock.patch.object(module, "CELLS", 3)',
        "patch.setattr(module, name, value)",
    ]
    assert [bool(patched(source)) for source in seen] == [True] * len(seen)
    fine = [
        'monkeypatch.setattr(sys, "stderr", None)',
        'monkeypatch.setattr("pellucid.report.write", full)',
        'monkeypatch.setattr("golden_files.FOLDER", tmp_path)',
        'from numba import config\nmonkeypatch.setattr(config, "DISABLE_JIT", 1)',
    ]
    assert [patched(source) for source in fine] == [[]] * len(fine)
