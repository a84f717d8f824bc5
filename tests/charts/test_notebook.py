"""A result in a notebook: its finding is the title of its chart, caveats fold out, and the saved cell is small."""

from __future__ import annotations

import json
import re
import struct
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from charts.chart_examples import (
    CLASSES,
    NASTY,
    ale,
    associations,
    attribution,
    caveat,
    effect,
    importance,
    individual,
    levels,
    surface,
    three,
)
from pellucid import Caveat
from pellucid.charts import draw
from pellucid.charts.chart import _picture
from pellucid.charts.png import _read, png, smaller
from pellucid.errors import MissingExtra
from pellucid.explanations import changed, notebook

RESULTS = {
    "one row": attribution,
    "one row of classes": lambda: attribution(outputs=CLASSES[:3], size=0.1),
    "beeswarm of 2,000 rows": lambda: attribution(2000),
    "beeswarm of 2,000 rows and 20 features": lambda: attribution(2000, names=[f"feature {j}" for j in range(20)]),
    "beeswarm of classes": lambda: attribution(2000, outputs=CLASSES[:3], size=0.1),
    "curve": effect,
    "classes": lambda: effect(outputs=CLASSES, scale="probability", curve=np.linspace(0, 1, 50)),
    "bins": ale,
    "levels": levels,
    "individual curves": lambda: individual(300),
    "a surface": lambda: surface(np.linspace(0, 7, 40), np.linspace(0, 9, 40)),
    "a surface of ALE": lambda: surface(np.linspace(0, 7, 41), np.linspace(0, 9, 41), method="ale"),
    "slices": three,
    "importance": importance,
    "associations": lambda: associations(30),
}


class Page(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.found: dict[str, dict] = {}
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.found[tag] = dict(attrs)

    def handle_data(self, data):
        self.words += data


def title(spec) -> str:
    return " ".join(spec["title"]["text"])


@pytest.mark.parametrize("name", RESULTS)
def test_a_cell_is_the_chart_under_its_finding_and_small(name):
    result = changed(RESULTS[name](), caveats=(caveat(),))
    bundle = result._repr_mimebundle_()
    assert len(json.dumps(bundle)) < 150_000
    page = Page(bundle["text/html"])
    assert page.found["img"]["src"].startswith(("data:image/png;base64,", "data:image/jpeg;base64,"))
    assert page.found["img"]["alt"] == result.headline()
    assert page.tags.index("img") < page.tags.index("details")
    assert "script" not in page.tags
    assert bundle["text/plain"] == repr(result)
    assert title(draw(result).spec) == " ".join(result.headline().removesuffix(".").split())


def test_caveats_fold_out_the_worst_first_and_inert():
    worse = Caveat("off-data", f"Off {NASTY}.", 0.9, 0.1, "Use another.")
    page = Page(changed(effect(), caveats=(caveat(), worse))._repr_mimebundle_()["text/html"])
    assert page.tags.count("details") == page.tags.count("summary") == 1
    assert page.tags.count("li") == 2
    summary = page.words.partition("warning: ")[0]
    assert "Off a" in summary
    assert "1 of 2 caveats" in summary
    assert page.words.index("warning") < page.words.index("Compare with ALE.")
    assert "details" not in Page(effect()._repr_mimebundle_()["text/html"]).tags


def test_what_a_chart_is_goes_below_its_finding():
    spec = draw(effect()).spec["title"]
    assert spec["subtitle"][0].startswith("Partial dependence of temperature")
    given = draw(effect(), title="Mine").spec["title"]
    assert given["text"] == ["Mine"]
    assert "Partial dependence" not in " ".join(given.get("subtitle", []))


def test_without_libraries_that_draw_there_are_words(monkeypatch):
    def missing(*_, **__):
        raise MissingExtra("altair")

    with monkeypatch.context() as patch:
        patch.setattr(notebook, "_picture", missing)
        bundle = effect()._repr_mimebundle_()
        assert bundle["text/plain"] == repr(effect())
        assert any(kind.startswith("application/vnd.vegalite") for kind in bundle)
    monkeypatch.setattr("pellucid.explanations.explanation.drawn", missing)
    assert effect()._repr_mimebundle_() == {"text/plain": repr(effect())}


def test_a_picture_is_as_sharp_as_fits():
    chart = draw(effect())
    sharp, width = chart.picture(1_000_000)
    small, same = chart.picture(1)
    assert width == same
    assert sharp.startswith("data:image/png")
    assert small.startswith("data:image/jpeg")
    assert len(small) < len(sharp)


def test_findings_of_single_features_and_pairs_are_their_own():
    rows = attribution(60)
    numbers = np.linspace(-1, 1, 60)
    rising = replace(
        rows,
        values=np.column_stack([numbers, *np.zeros((4, 60))]),
        entries=replace(rows.entries, data=(numbers, *rows.data[1:])),
    )
    assert title(draw(rising, kind="dependence", feature="temperature").spec).startswith("Higher temperature raises")
    falling = replace(rising, values=-rising.values)
    assert title(draw(falling, kind="dependence", feature="temperature").spec).startswith("Higher temperature lowers")
    of_levels = title(draw(rows, kind="dependence", feature="season").spec)
    assert re.match(r"season raises the prediction most for (\w+) .* and lowers it most for (\w+)", of_levels)


def test_fewer_colours_are_the_same_picture():
    spec = draw(attribution(300)).spec
    whole = _picture(spec, ".png", 1.0)
    few = smaller(whole)
    assert len(few) < len(whole) / 2
    before, after = _read(whole).astype(int), read_palette(few)
    assert before.shape == after.shape
    assert np.abs(before - after).mean() < 1.0
    assert (after.reshape(-1, 3)[:50] == 255).all()  # paper stays white
    exact = draw(levels()).spec
    small = read_palette(smaller(_picture(exact, ".png", 1.0)))
    assert np.quantile(np.abs(_read(_picture(exact, ".png", 1.0)).astype(int) - small), 0.999) <= 8


def read_palette(picture: bytes) -> np.ndarray:
    at, parts = 8, {}
    while at < len(picture):
        size, name = struct.unpack(">I4s", picture[at : at + 8])
        parts[name] = picture[at + 8 : at + 8 + size]
        at += 12 + size
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    places = np.frombuffer(zlib.decompress(parts[b"IDAT"]), dtype=np.uint8).reshape(height, 1 + width)[:, 1:]
    return np.frombuffer(parts[b"PLTE"], dtype=np.uint8).reshape(-1, 3)[places].astype(int)


def test_other_pictures_stay_as_they_are():
    grey = png(np.zeros((3, 3, 1), dtype=np.uint8))
    assert smaller(grey) == grey
    clear = png(np.zeros((3, 3, 4), dtype=np.uint8))
    assert smaller(clear) == clear
