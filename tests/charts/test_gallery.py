"""The gallery has a small picture of every kind of chart, and the page is made from the list that draws them."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import pellucid
import pellucid.parts
from pellucid.explanations.option import declared
from pellucid.explanations.plot_options import ATTRIBUTION_KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = DOCS / "images" / "gallery"
MADE = runpy.run_path(str(DOCS / "make_gallery.py"))
RESULTS = runpy.run_path(str(DOCS / "make_charts_page.py"))["RESULTS"]
ENTRIES = MADE["GALLERY"]


def kinds(result: str) -> list[str]:
    """The kinds of chart that a result declares as its own; "auto" is one of the others."""
    option = declared(getattr(pellucid, result)._options).get("kind")
    words = [] if option is None else re.findall(r'"([\w-]+)"', option.takes)
    inherited = () if result == "Attribution" else ATTRIBUTION_KINDS
    return [word for word in words if word != "auto" and word not in inherited]


def test_the_page_is_made_from_the_list():
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == MADE["page"](), "run python docs/make_gallery.py"


@pytest.mark.parametrize("result", RESULTS)
def test_every_result_and_every_kind_has_a_picture(result):
    family = "Local" if result.startswith("Local") else result
    codes = [entry.code for entry in ENTRIES if entry.result == result]
    assert codes
    every = [entry.code for entry in ENTRIES if entry.result.startswith(family)]
    for kind in kinds(result):
        assert any(f'kind="{kind}"' in code for code in every), kind


def test_declared_kinds_are_found():
    assert {"violin", "heatmap", "waterfall"} <= set(kinds("Attribution"))
    assert kinds("Effect") == ["surface"]
    assert kinds("LocalAttribution") == ["effects", "widths", "boundary"]


def test_pictures_are_small_and_all_are_shown():
    assert {path.stem for path in PICTURES.iterdir()} == {entry.name for entry in ENTRIES}
    for path in PICTURES.iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size < 60_000, path.name
