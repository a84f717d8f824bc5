"""Which versions are installed: printed before a test run, and asked by tests about what only later ones do.

Such tests skip, with the reason, where an earlier version is installed.
"""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import pytest

LIBRARIES = (
    *("numpy", "scipy", "pandas", "polars", "pyarrow", "narwhals", "numba", "scikit-learn", "joblib"),
    *("xgboost", "lightgbm", "catboost", "torch", "onnx", "onnxruntime", "skl2onnx", "skops", "shap"),
    *("altair", "vl-convert-python", "scikit-image", "typer", "rich", "pytest", "hypothesis"),
)


def needs(library: str, least: str) -> pytest.MarkDecorator:
    """A mark for tests of something that ``library`` has since version ``least``."""
    return pytest.mark.skipif(not has(library, least), reason=f"{library} has it since {least}")


def has(library: str, least: str) -> bool:
    found = installed(library)
    return found is not None and _numbers(found) >= _numbers(least)


def installed(library: str) -> str | None:
    """Its version, also of a build for the CPU alone, which has a name of its own."""
    for name in (library, f"{library}-cpu"):
        with suppress(PackageNotFoundError):
            return version(name)
    return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("+")[0].split(".")[:2] if part.isdigit())


if __name__ == "__main__":
    found = [f"{library} {installed(library)}" for library in LIBRARIES if installed(library)]
    print(f"Python {platform.python_version()}: {', '.join(found)}")  # noqa: T201 - a line for the log of a test run
