"""Importing pellucid is cheap and loads nothing it does not need."""

import json
import subprocess
import sys

HEAVY = (
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "sklearn",
    "scipy",
    "altair",
    "vl_convert",
    "matplotlib",
    "numba",
    "torch",
    "joblib",
    "rich",
    "typer",
    "jinja2",
)


def _loaded_after(statement: str) -> set[str]:
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(out.stdout)}


def test_import_loads_no_heavy_library():
    assert _loaded_after("import pellucid") & set(HEAVY) == set()


def test_datasets_load_no_dataframe_library_until_asked():
    assert _loaded_after("import pellucid.datasets") & {"pandas", "polars", "sklearn", "altair"} == set()


def test_command_line_help_loads_no_dataframe_library():
    assert _loaded_after("import pellucid.cli") & {"pandas", "polars", "sklearn", "altair", "scipy"} == set()


def test_explainer_loads_no_plotting_library():
    loaded = _loaded_after("from pellucid import Explainer")
    assert loaded & {"altair", "vl_convert", "matplotlib", "rich", "typer", "polars", "pyarrow", "torch"} == set()
    assert "numpy" in loaded
