"""Sentences that the library says, in files that people read: ``tests/golden/<kind>.txt``, one section for each scene.

A test hands over a text with ``golden("attribution", "one row", text)``; it has to be the section of that name. ``make golden``
rewrites the files. Each sentence has a line of its own; an indented one continues the paragraph above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"
HEAD = "What the library says, section by section. The tests compare; `make golden` rewrites.\n"
NUMBER = re.compile(r"(?<![\w.])[-+]?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")


def masked(text: str) -> str:
    """The text with ``#`` for every number: those that come from sampling, or from a fitted model, differ between machines."""
    return NUMBER.sub("#", text)


def titles(spec: Any) -> list[str]:
    """What a chart says: its title with the lines below it, the titles of its views, axes and legends, each once."""

    def within(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            title = node.get("title")
            lines = (title.get("text"), title.get("subtitle")) if isinstance(title, dict) else (title,)
            yield from (" ".join(line) if isinstance(line, list) else line for line in lines if line)
        if isinstance(node, dict | list):
            inner = node.items() if isinstance(node, dict) else enumerate(node)
            for key, part in inner:
                if key not in ("datasets", "data", "title"):
                    yield from within(part)

    return list(dict.fromkeys(within(spec)))


def laid_out(text: str | Iterable[str]) -> str:
    """A line for each sentence, indented where it continues a paragraph; of several texts each begins a paragraph."""
    whole = text if isinstance(text, str) else "\n".join(text)
    lines = (re.sub(r"(?<!^.[.])(?<=[.!?]) (?=\S)", "\n  ", line).rstrip() for line in whole.splitlines())
    return "\n".join(line for line in lines if line)


def sections(kind: str) -> dict[str, str]:
    """The sections of a file by their names."""
    path = FOLDER / f"{kind}.txt"
    parts = re.split(r"^== (.+) ==$\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE) if path.exists() else [""]
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def write(kind: str, found: dict[str, str]) -> None:
    """A file with these sections, by name; a file without any is removed."""
    path = FOLDER / f"{kind}.txt"
    path.unlink(missing_ok=True)
    if found:
        texts = [f"\n== {name} ==\n{found[name]}\n" for name in sorted(found)]
        path.write_text(HEAD + "".join(texts), encoding="utf-8")


class Golden:
    """Compares texts with the files, or, if told to ``rewrite``, gathers them for new ones."""

    def __init__(self, rewrite: bool) -> None:
        self.rewrite = rewrite
        self.seen: dict[str, dict[str, str]] = {}

    def check(self, kind: str, section: str, text: str | Iterable[str]) -> None:
        said = laid_out(text)
        asked = self.seen.setdefault(kind, {})
        assert asked.setdefault(section, said) == said, f"two tests give different texts to {section!r} in {kind}.txt"
        if not self.rewrite:
            known = sections(kind)
            assert section in known, f"tests/golden/{kind}.txt has no section {section!r}; run: make golden"
            assert said == known[section], f"{section!r} in tests/golden/{kind}.txt reads otherwise; run: make golden"

    def save(self, whole: bool) -> None:
        """Write what was gathered; after a ``whole`` run sections and files that no test asked for are gone."""
        for kind in {path.stem for path in FOLDER.glob("*.txt")} | set(self.seen):
            found = self.seen.get(kind, {})
            write(kind, found if whole else {**sections(kind), **found})
