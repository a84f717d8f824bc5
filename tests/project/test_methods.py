"""A file in methods/<family>/ is a method: it says what it computes, when it misleads and what it costs.

Helpers are in a folder of their own, named by what they hold.
"""

import ast
from pathlib import Path

import pytest

import pellucid

METHODS = Path(pellucid.__file__).parent / "methods"
# Which method, with which options: these compute nothing.
DOORWAYS = {"__init__", "dispatch", "request", "shap", "estimators", "shapley_game"}
FILES = [path for path in sorted([*METHODS.glob("*.py"), *METHODS.glob("*/*.py")]) if path.stem not in DOORWAYS]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_method_is_defined_doubted_and_priced(path: Path) -> None:
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    for word in ("Definition. ", "isleads", "Cost. "):
        assert word in said, f"{path.name} does not say {word!r}; if it is a helper, put it into a folder of helpers"


def test_folders_of_helpers_say_what_they_hold() -> None:
    folders = [path for path in METHODS.glob("*/*/__init__.py")]
    assert folders
    for path in folders:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{path} is not described"
