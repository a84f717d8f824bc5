"""Data flow one way: a lower layer never imports a higher one."""

import ast
from functools import cache
from pathlib import Path

import pellucid
from project.measure import cycles, import_graph

ROOT = Path(pellucid.__file__).parent
# From low to high; a module may import its own layer and those before it.
LAYERS = [
    {"errors", "arrays", "checks", "later", "stats", "drawing", "words"},
    {"losses", "data", "datasets"},
    {"models"},
    {"runner"},
    {"trees"},
    {"reading"},
    {"games"},
    {"explanations"},
    {"diagnostics"},
    {"methods"},
    {"charts", "glassbox", "verbs"},
    {"explainer", "parts", "teaching"},
    {"saved"},
    {"report"},
    {"cli"},
]
# A name for the type checker only, and the one late step up: the explainers ask for their reports.
ALLOWED = {("explanations", "charts"), ("explainer", "report"), ("parts", "report")}
LIBRARIES_OF_MODELS = {"xgboost", "lightgbm", "catboost", "torch", "onnxruntime", "onnx", "skops"}


def rank(part: str) -> int:
    return next(k for k, layer in enumerate(LAYERS) if part in layer)


@cache
def imports() -> list[tuple[Path, str, str]]:
    """(file, its layer, imported module) for every import, the late ones included."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        relative = path.relative_to(ROOT)
        part = relative.parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found += [(relative, part, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{relative}: relative import; write the whole name"
                found.append((relative, part, node.module or ""))
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
                found += [(relative, part, str(name.value)) for name in node.args[:1] if isinstance(name, ast.Constant)]
    return found


graph_of_imports = cache(import_graph)


def test_every_part_has_a_layer():
    parts = {
        path.name.removesuffix(".py")
        for path in ROOT.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert parts - {"__init__"} == set().union(*LAYERS)


def test_lower_layers_do_not_import_higher_ones():
    wrong = []
    for path, part, module in imports():
        if not module.startswith("pellucid."):
            continue
        other = module.split(".")[1]
        if rank(other) > rank(part) and (part, other) not in ALLOWED:
            wrong.append(f"{path}: {module}")
    assert wrong == []


def test_no_module_imports_itself_through_others():
    assert cycles(graph_of_imports()) == []


def test_a_report_and_a_chart_get_results_and_compute_none():
    wrong = [
        f"{path}: {module}"
        for path, part, module in imports()
        if part in {"report", "charts"} and module.split(".")[1:2] in (["methods"], ["diagnostics"])
    ]
    assert wrong == []


def test_results_know_nothing_of_charts_when_they_run():
    graph = graph_of_imports()
    results = [name for name in graph if name.startswith("pellucid.explanations")]
    assert results
    assert [(name, other) for name in results for other in graph[name] if other.startswith("pellucid.charts")] == []


def test_only_the_model_doorway_knows_model_libraries():
    wrong = [
        f"{path}: {module}"
        for path, part, module in imports()
        if module.split(".")[0] in LIBRARIES_OF_MODELS and part not in ("models", "trees")
    ]
    assert wrong == []


def test_nothing_is_pickled():
    assert [
        str(path) for path, _, module in imports() if module.split(".")[0] in {"pickle", "dill", "cloudpickle"}
    ] == []


def test_methods_do_not_print_plot_or_check_containers():
    banned = {"pandas", "polars", "pyarrow", "altair", "rich", "typer", "joblib"}
    wrong = [
        f"{path}: {module}"
        for path, part, module in imports()
        if part in {"methods", "diagnostics"} and module.split(".")[0] in banned
    ]
    assert wrong == []
