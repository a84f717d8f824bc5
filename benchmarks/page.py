"""What every benchmark prints around its tables: versions, the machine, Markdown, and the page it writes."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_ALWAYS = ("pellucid", "numpy", "pandas", "scikit-learn")
# One thread for everyone, so that CPU time means the same; libraries read this when they are imported.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TQDM_DISABLE": "1"}


def versions(*peers: str) -> str:
    """Python, what every benchmark uses, and the peers that are installed, each with its version."""
    found = [f"Python {platform.python_version()}"]
    for package in dict.fromkeys((*_ALWAYS, *peers)):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def printed(script: str, *peers: str, more: Sequence[str] = ()) -> str:
    """Which script printed a page, on what machine and with which versions; ``more``: packages found elsewhere."""
    return (
        f"Printed by `benchmarks/{Path(script).name} --write` on a shared {platform.machine()} machine with "
        f"{os.cpu_count()} cores: {', '.join((versions(*peers), *more))}. "
        "How to run it and what the columns mean: [README.md](README.md)."
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A Markdown table whose first ``words`` columns are text, the others numbers."""
    return "\n".join((header(head, words), *map(row, rows)))


def header(head: Sequence[str], words: int = 1) -> str:
    return f"{row(head)}\n|" + "---|" * words + "---:|" * (len(head) - words)


def row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items) or "None."


def write(name: str, *parts: str) -> None:
    """The page, its parts set apart by an empty line."""
    text = "\n\n".join(part.strip("\n") for part in parts) + "\n"
    Path(__file__).with_name(name).write_text(text, encoding="utf-8")


def write_section(name: str, title: str, *parts: str) -> None:
    """One section of a page, from its "## title" to the next, in place of the one of that title: for long runs in parts."""
    path = Path(__file__).with_name(name)
    head, *sections = path.read_text(encoding="utf-8").split("\n## ") if path.exists() else [""]
    found = {section.split("\n", 1)[0]: section for section in sections}
    found[title] = "\n\n".join((title, *(part.strip("\n") for part in parts))) + "\n"
    path.write_text("\n## ".join((head, *found.values())), encoding="utf-8")


def restart_with(environment: dict[str, str]) -> None:
    """Run the script again with these variables, unless they are set: libraries read them when they are imported."""
    if any(os.environ.get(name) != value for name, value in environment.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | environment)
