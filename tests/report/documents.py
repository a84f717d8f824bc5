"""How tests look into a document: its chapters, and what they say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from golden_files import masked
from pellucid.report import build

full_report = partial(build, detail="full")


def part(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A chapter by its name."""
    return next(section for section in document["sections"] if section["id"] == name)


def said(*chapters: dict[str, Any]) -> Iterator[str]:
    """Titles and sentences of chapters, with # for numbers; caveats and the texts of the results are told elsewhere."""
    for chapter in chapters:
        yield f"[{chapter['title']}]"
        yield from map(masked, chapter["intro"])
        for holder in (chapter, *chapter["cards"]):
            if holder is not chapter:
                yield masked(f"* {holder['title']}")
                yield from map(masked, filter(None, [holder["subtitle"], *holder["sentences"], holder["why"]]))
            if holder["table"]:
                yield "| " + " | ".join(holder["table"]["head"])
