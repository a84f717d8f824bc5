"""The report in a real browser: charts drawn, nothing fetched, no overflow on a phone, hostile names harmless."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pellucid.report import write

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
SIZES = """return Array.from(document.querySelectorAll("[data-chart]")).map(box => {
    const picture = box.querySelector("svg");
    const marks = picture ? picture.querySelectorAll("path, text").length : 0;
    const size = picture ? picture.getBoundingClientRect() : {width: 0, height: 0};
    return [size.width, size.height, marks, box.clientWidth, box.classList.contains("wide")];
})"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="needs chromium and chromedriver on the path"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory, short_document: dict[str, Any], hostile_document: dict[str, Any]
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    documents = {"demo": short_document, "hostile": hostile_document}
    return {name: write(document, folder / f"{name}.html") for name, document in documents.items()}


def show(browser: Any, page: Path, width: int) -> None:
    """Open a page at a width and wait until every chart is drawn."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get("about:blank")  # leave the browser's own start page, which loads parts of itself
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    ready = "return document.documentElement.dataset.ready === 'yes'"
    WebDriverWait(browser, 60, poll_frequency=0.1).until(lambda driver: driver.execute_script(ready))


def fetched(browser: Any) -> list[str]:
    """Addresses of all requests since the page was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith("chrome:")]  # late parts of the start page


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", ["demo", "hostile"])
def test_charts_are_drawn_offline_and_fit(browser: Any, pages: dict[str, Path], name: str, width: int) -> None:
    show(browser, pages[name], width)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    outside = [
        url for url in fetched(browser) if not url.startswith(("data:", "blob:")) and url != pages[name].as_uri()
    ]
    assert outside == []
    charts = browser.execute_script(SIZES)
    assert len(charts) > 4
    for wide, high, marks, room, scrolls in charts:
        assert wide > 200
        assert high > 40
        assert marks > 10
        assert scrolls or wide <= room + 1
    assert sum(scrolls for *_, scrolls in charts) <= (
        4 if width < 400 else 0
    )  # the widest, of long names, and the tree
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_charts_are_drawn_again_when_the_window_changes(browser: Any, pages: dict[str, Path]) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    show(browser, pages["demo"], 1280)
    before = browser.execute_script(SIZES)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    )
    drawn_for = (
        "return Array.from(document.querySelectorAll('[data-chart]')).every(box => box.room === box.clientWidth)"
    )
    WebDriverWait(browser, 30).until(lambda driver: driver.execute_script(drawn_for))
    after = browser.execute_script(SIZES)
    assert all(new[3] != old[3] for new, old in zip(after, before, strict=True))
    assert all(0.9 * room < width <= room + 1 for width, _, _, room, _ in after)  # the whole width, and no more


def test_hostile_names_are_shown_as_text(browser: Any, pages: dict[str, Path]) -> None:
    from selenium.common.exceptions import NoAlertPresentException

    show(browser, pages["hostile"], 1280)
    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert
    assert browser.title == "<script>alert('title')</script>"
    headings = browser.execute_script("return Array.from(document.querySelectorAll('h3')).map(h => h.textContent)")
    assert "<script>alert(1)</script>" in headings
    labels = browser.execute_script(
        "return Array.from(document.querySelectorAll('#importance svg text')).map(t => t.textContent)"
    )
    assert "<script>alert(1)</script>" in labels
    assert browser.execute_script("return document.querySelectorAll('img, main script, main i').length") == 0


def test_tooltips_are_text(browser: Any, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    show(browser, pages["hostile"], 1280)
    bar = browser.find_element(By.CSS_SELECTOR, "#importance svg .mark-rect path")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", bar)
    ActionChains(browser).move_to_element_with_offset(bar, 1, 1).perform()
    text = "return (document.querySelector('#vg-tooltip-element') || {}).textContent || ''"
    WebDriverWait(browser, 10).until(lambda driver: "importance" in driver.execute_script(text))
    assert "<script>alert(1)</script>" in browser.execute_script(text)
    assert browser.execute_script("return document.querySelectorAll('#vg-tooltip-element script').length") == 0


def test_a_curve_over_dates_spans_its_axis(
    browser: Any, pages: dict[str, Path], hostile_document: dict[str, Any]
) -> None:
    """The interpreter needs help with dates; without it all points fall on one spot."""
    cards = [card for section in hostile_document["sections"] for card in section["cards"]]
    name = next(card["id"] for card in cards if card["title"] == "date")
    show(browser, pages["hostile"], 1280)
    widths = browser.execute_script(
        f"return Array.from(document.querySelectorAll('#{name} svg .mark-line path')).map(p => p.getBBox().width)"
    )
    assert max(widths) > 150


@pytest.mark.parametrize("width", [360, 1280])
def test_the_effect_at_missing_stands_beside_its_curve(browser: Any, pages: dict[str, Path], width: int) -> None:
    """Below it, where outputs would be stacked, its label would cover the histogram."""
    show(browser, pages["hostile"], width)
    places = browser.execute_script(
        """return Array.from(document.querySelectorAll("#responds svg")).flatMap(svg => {
            const box = svg.getBoundingClientRect();
            return Array.from(svg.querySelectorAll("text")).filter(t => t.textContent.startsWith("missing"))
                .map(t => t.getBoundingClientRect()).map(t => (t.left + t.width / 2 - box.left) / box.width);
        })"""
    )
    assert places
    assert min(places) > 0.6


# -- choosing in the page ----------------------------------------------------------------------------


def choose(browser: Any, name: str, value: int, event: str = "change") -> None:
    """Set a box of the page as a reader does, and wait until what depends on it is drawn."""
    browser.execute_async_script(
        """const [name, value, event, done] = arguments;
        const box = document.getElementById(`explore-${name}`);
        box.value = value;
        box.dispatchEvent(new Event(event));
        setTimeout(done, 300);""",
        name,
        value,
        event,
    )


def text(browser: Any, name: str) -> str:
    return str(browser.execute_script(f"return document.getElementById('explore-{name}').textContent"))


def test_any_row_and_feature_can_be_chosen(
    browser: Any, pages: dict[str, Path], short_document: dict[str, Any]
) -> None:
    known = short_document["explore"]
    names = [feature["name"] for feature in known["features"]]
    show(browser, pages["demo"], 1280)
    assert text(browser, "label") == known["rows"][0]["label"]
    row, feature = 7, names.index("humidity")
    choose(browser, "row", row)
    choose(browser, "feature", feature)
    assert text(browser, "label") == known["rows"][row]["label"]
    assert text(browser, "said") == known["rows"][row]["said"]
    bars = browser.execute_script(
        "return Array.from(document.querySelectorAll('#explore-bars .bar')).map(b => b.textContent)"
    )
    first, *middle, last = bars
    assert len(middle) == len(known["rows"][row]["named"])
    assert first.startswith("average prediction")
    assert last.startswith("this prediction")
    assert "as it is" in text(browser, "reading")
    choose(browser, "slider", 0, "input")
    lowest = known["features"][feature]
    assert text(browser, "reading").startswith(f"humidity = {lowest['labels'][0]}: prediction ")
    said = text(browser, "reading").split("prediction ")[1].split(" ")[0].replace(",", "")
    assert float(said) == pytest.approx(lowest["curves"][row][0][0], rel=1e-3)
    marks = browser.execute_script("return document.querySelectorAll('#explore-chart svg path').length")
    assert marks > 5
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_bar_leads_to_its_feature(browser: Any, pages: dict[str, Path], short_document: dict[str, Any]) -> None:
    show(browser, pages["demo"], 1280)
    name = browser.execute_script(
        "const bar = document.querySelectorAll('#explore-bars .bar')[2]; bar.click(); return bar.textContent"
    ).split(" = ")[0]
    assert text(browser, "name") == f"What if {name} were different?"


def test_names_of_rows_and_features_to_choose_are_text(
    browser: Any, pages: dict[str, Path], hostile_document: dict[str, Any]
) -> None:
    known = hostile_document["explore"]
    show(browser, pages["hostile"], 1280)
    place = next(j for j, feature in enumerate(known["features"]) if feature["name"] == "town")
    choose(browser, "feature", place)
    for step in range(len(known["features"][place]["labels"])):
        choose(browser, "slider", step, "input")
        assert known["features"][place]["labels"][step] in text(browser, "reading")
    options = browser.execute_script("return Array.from(document.querySelectorAll('option')).map(o => o.textContent)")
    assert {feature["name"] for feature in known["features"]} <= set(options)
    inside = "#explore img, #explore script, #explore b, #explore i"
    assert browser.execute_script(f"return document.querySelectorAll('{inside}').length") == 0
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize("width", [800, 1280])
def test_a_short_report_prints_on_three_pages(browser: Any, pages: dict[str, Path], width: int) -> None:
    """Whatever the width of the window that it is printed from."""
    import base64

    show(browser, pages["demo"], width)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    pages_of = re.findall(rb"/Type\s*/Page\b(?!s)", base64.b64decode(printed["data"]))
    assert 2 <= len(pages_of) <= 3


def test_on_a_phone_tables_scroll_and_charts_take_the_width(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["demo"], 390)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    boxes = browser.execute_script(
        "return Array.from(document.querySelectorAll('[data-chart], #explore-chart')).map(b => b.clientWidth)"
    )
    assert min(boxes) > 300
    assert browser.execute_script(
        "return Array.from(document.querySelectorAll('table')).every(t => getComputedStyle(t.parentElement).overflowX === 'auto')"
    )
