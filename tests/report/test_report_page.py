"""The page: one file, everything escaped, nothing fetched, the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

from pellucid import Explainer, InputError
from pellucid.cli.app import DEMO_TITLE, demo_explainer
from pellucid.report import build as short_report
from pellucid.report import render, report, write
from report.documents import full_report as build

SCRIPTS = 5  # charts, what can be chosen, the chart library, and two of our own


class Page(HTMLParser):
    """Elements, attributes and texts of a page, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._open = tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open, []).append(data)


@pytest.fixture(scope="module")
def hostile_page(hostile_document: dict[str, Any]) -> str:
    return render(hostile_document)


@pytest.fixture(scope="module")
def demo_page(demo_document: dict[str, Any]) -> str:
    return render(demo_document)


def charts_of(page: Page) -> dict[str, Any]:
    charts: dict[str, Any] = json.loads(page.texts["script"][0])
    return charts


def test_hostile_names_are_text(hostile_page: str, hostile_document: dict[str, Any]) -> None:
    page = Page(hostile_page)
    assert page.tags.count("script") == SCRIPTS
    assert not {"img", "i", "b", "iframe", "link", "object", "form"} & set(page.tags)
    assert page.texts["title"][0] == "<script>alert('title')</script>"
    shown = set(page.texts["h3"])
    assert {card["title"] for part in hostile_document["sections"] for card in part["cards"]} <= shown
    assert "{{7*7}}" in hostile_page
    assert "49" not in {cell.strip() for cell in page.texts["td"]}


def test_no_attribute_runs_code(hostile_page: str) -> None:
    assert not [name for _, name, _ in Page(hostile_page).attributes if name.startswith("on")]


def test_chart_data_come_back_as_they_went_in(hostile_page: str, hostile_document: dict[str, Any]) -> None:
    charts = charts_of(Page(hostile_page))
    cards = [card for part in hostile_document["sections"] for card in part["cards"]]
    assert charts == {
        card["id"]: {"spec": card["chart"], "fits": card["fits"], "stacks": card["stacks"], "grows": card["half"]}
        for card in cards
    }
    raw = hostile_page.split('id="charts">')[1].split("</script>")[0]
    assert not set("<>\u2028\u2029") & set(raw)


def test_nothing_is_fetched(demo_page: str) -> None:
    page = Page(demo_page)
    for _, name, value in page.attributes:
        if name in ("src", "href", "srcset", "action", "data", "poster"):
            assert value.startswith("#")
    style = "".join(page.texts["style"])
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_exactly_our_scripts(demo_page: str) -> None:
    page = Page(demo_page)
    policy = next(value for tag, name, value in page.attributes if tag == "meta" and "default-src" in value)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    scripts = re.findall(r"<script>(.*?)</script>", demo_page, flags=re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert len(scripts) == SCRIPTS - 2
    assert "unsafe-eval" not in policy


def test_the_demo_is_small(demo_page: str) -> None:
    assert len(demo_page.encode()) < 3_000_000


def test_same_seed_same_bytes(short_document: dict[str, Any]) -> None:
    assert render(short_report(demo_explainer(False), title=DEMO_TITLE)) == render(short_document)


def test_what_a_row_says_in_short_stands_first_and_the_rest_is_folded(
    hostile_page: str, hostile_document: dict[str, Any]
) -> None:
    cards = next(part for part in hostile_document["sections"] if part["id"] == "rows")["cards"]
    for card in cards:
        article = hostile_page.split(f'id="{card["id"]}"')[1].split("</article>")[0]
        outside, folded = article.split("<details>", 1)
        assert escape(card["sentences"][0]) in outside
        assert outside.index(escape(card["sentences"][0])) < outside.index("<figure>")
        for line in card["more"]:
            assert escape(line) in folded
            assert escape(line) not in outside
        for row in card["table"]["rows"]:
            for cell in row:
                assert f">{escape(cell)}</t" in outside
        assert "contributed" not in outside.split("</figure>")[1]


def test_every_link_leads_somewhere(demo_page: str) -> None:
    page = Page(demo_page)
    names = {value for _, name, value in page.attributes if name == "id"}
    links = {value[1:] for tag, name, value in page.attributes if (tag, name) == ("a", "href")}
    assert links
    assert links <= names


def test_folded_features_are_in_the_page(linear: Any) -> None:
    page = render(build(linear([1.0] + [0.0] * 35, n=30), top=1))
    assert "<summary>6 more features</summary>" in page
    table = page.split('<section id="data">')[1].split("</section>")[0]
    assert table.count('<th scope="row">x') == 36


# -- files -------------------------------------------------------------------------------------------


def test_report_writes_a_file_and_gives_its_path(linear: Any, tmp_path: Path) -> None:
    path = report(linear([2.0, 1.0]), tmp_path / "r.html", title="Größe", top=1, rows=[7])
    assert path == tmp_path / "r.html"
    text = path.read_text(encoding="utf-8")
    assert "<h1>Größe</h1>" in text
    assert 'id="effect-1"' in text
    assert 'id="effect-2"' not in text
    assert "<h3>Row 7: as requested</h3>" in text
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.html"]


def test_a_failed_write_leaves_the_old_file(
    demo_document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(demo_document, path)
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("r.html", "old")]


def test_the_path_is_checked_before_the_work(tmp_path: Path) -> None:
    calls = []

    def model(X: Any) -> Any:
        calls.append(len(X))
        return X[:, 0]

    explainer = Explainer(model, np.eye(3), progress=False)
    calls.clear()
    with pytest.raises(InputError, match="create it"):
        report(explainer, tmp_path / "nowhere" / "r.html")
    with pytest.raises(InputError, match="path of a file"):
        report(explainer, tmp_path)
    assert calls == []
