"""The report in a real browser: charts drawn, nothing fetched, no overflow on a phone, hostile names harmless."""

from __future__ import annotations

import json
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
    return [size.width, size.height, marks, box.clientWidth];
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
    tmp_path_factory: pytest.TempPathFactory, demo_document: dict[str, Any], hostile_document: dict[str, Any]
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    documents = {"demo": demo_document, "hostile": hostile_document}
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
    for wide, high, marks, room in charts:
        assert wide > 200
        assert high > 40
        assert marks > 10
        assert wide <= room + 1
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
    assert all(new[0] < old[0] for new, old in zip(after, before, strict=True))


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
