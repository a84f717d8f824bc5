"""Numbers about the code itself: how much there is, how it hangs together, where it is hard to read.

    make measure

Lines of code are those with a token on them that is not a comment or a docstring.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "pellucid"
KERNELS = SOURCE / "trees" / "kernels"
LINE_LIMIT = 120


def files() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("pellucid", *path.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def code_lines(text: str) -> set[int]:
    """The numbers of the lines that hold code: no blank lines, comments or docstrings."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped and token.type != tokenize.ENDMARKER:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def imported(tree: ast.AST, modules: set[str], typing_too: bool = True) -> set[str]:
    """The modules of the package that one file imports, lazily or at once, as far as they can be read off it."""
    found = set()
    hidden = set() if typing_too else _for_types_only(tree)
    for node in ast.walk(tree):
        if node in hidden:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & modules) or {node.module}
            if not inner <= modules:
                found.add(node.module)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            found |= {str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant)}
    return found & modules


def _for_types_only(tree: ast.AST) -> set[ast.AST]:
    """Whatever stands below ``if TYPE_CHECKING:``."""
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    return {inner for block in blocks for statement in block.body for inner in ast.walk(statement)}


def cycles(edges: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that import each other in a circle."""
    reached = {name: _reached(edges, name) for name in edges}
    circles = {frozenset(other for other in reached[name] if name in reached[other]) for name in edges}
    return [set(circle) for circle in circles if circle]


def _reached(edges: dict[str, set[str]], start: str) -> set[str]:
    """Whatever is imported by what is imported by ... ``start``."""
    found: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += edges[name]
    return found


def import_graph() -> dict[str, set[str]]:
    """Who imports whom when the code runs, lazy imports included; a package's own `__init__` is not counted as a user."""
    modules = files()
    return {
        name: imported(ast.parse(path.read_text(encoding="utf-8")), set(modules), typing_too=False) - {name}
        for name, path in modules.items()
    }


def functions(tree: ast.AST) -> list[tuple[str, int, int]]:
    """(name, lines, parameters) of every function."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            args = node.args
            names = [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs] if a.arg not in ("self", "cls")]
            body = node.body
            start = node.lineno
            if ast.get_docstring(node) and len(body) > 1:
                start += (body[0].end_lineno or 0) - body[0].lineno + 1  # a docstring is not length
            found.append((node.name, (node.end_lineno or start) - start + 1, len(names)))
    return found


def measure() -> dict[str, object]:
    modules = files()
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    code = {name: code_lines(text) for name, text in texts.items()}
    import_lines = sum(
        len(code[name] & set(range(node.lineno, (node.end_lineno or node.lineno) + 1)))
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    edges = {name: imported(tree, set(modules)) - {name} for name, tree in trees.items()}
    importers = Counter(other for name, others in edges.items() for other in others)
    inits = {name for name, path in modules.items() if path.name == "__init__.py"}
    all_functions = [(name, *function) for name, tree in trees.items() for function in functions(tree)]
    circles = cycles(import_graph())
    lines = [line for text in texts.values() for line in text.splitlines()]
    long = [
        f"{name}.{function} ({length})"
        for name, function, length, _ in all_functions
        if length > 80 and not modules[name].is_relative_to(KERNELS)
    ]
    return {
        "lines": len(lines),
        "files": len(modules),
        "lines of code": sum(map(len, code.values())),
        "import lines, share of code": f"{import_lines / sum(map(len, code.values())):.1%}",
        "files below 40 lines of code, no __init__": sum(len(code[name]) < 40 for name in modules if name not in inits),
        "modules with exactly one importer": sum(importers[name] == 1 for name in modules if name not in inits),
        "files in methods/": sum(name.startswith("pellucid.methods.") for name in modules if name not in inits),
        "functions with more than 8 parameters": sum(count > 8 for *_, count in all_functions),
        "functions over 80 lines outside the kernels": len(long),
        "import cycles (lazy imports included)": [len(circle) for circle in circles] or "none",
        "lines over the limit of the formatter": sum(len(line) > LINE_LIMIT for line in lines),
        "longest line": max(map(len, lines)),
        "fmt: skip": sum("fmt: skip" in line for line in lines),
        "isinstance(.., bool)": sum("isinstance(" in line and "bool)" in line for line in lines),
        "1.96 by hand": sum("1.96" in line and not line.strip().startswith("#") for line in lines),
    }


if __name__ == "__main__":
    for what, number in measure().items():
        print(f"{what:<48} {number}")  # noqa: T201 - the answer
