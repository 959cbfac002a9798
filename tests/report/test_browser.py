"""A page in a real browser: silent, self-contained, fitting every width, printable."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.report.rendering import render_html
from pdpaudit.report.sources import Source, source_from_json

REPORTS = Path(__file__).resolve().parents[2] / "reports"

OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(chromium: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium[0]
    profile = tmp_path_factory.mktemp("profile")
    for option in (*OPTIONS, f"--user-data-dir={profile}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromium[1]))
    yield driver
    driver.quit()


def show(browser: Any, text: str, folder: Path, width: int = 1440, scheme: str = "light") -> str:
    """Open a page at a width in a colour scheme; return its address."""
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(page.as_uri())
    return page.as_uri()


def requests(browser: Any) -> list[str]:
    """Return every address asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def check_width(browser: Any, width: int) -> None:
    """Refuse a page that is wider than the window, or text that sticks out of it."""
    wide, room = browser.execute_script(
        "const page = document.documentElement; return [page.scrollWidth, page.clientWidth]"
    )
    assert wide <= room <= width
    # Text outside a region that scrolls lies within the page.
    beyond = browser.execute_script(
        """
        const room = document.documentElement.clientWidth + 1;
        return [...document.querySelectorAll("p, li, h1, h2, h3, figcaption, svg text, pre, dd")]
          .filter(one => !one.closest(".scroll") && one.getBoundingClientRect().width > 0
                         && (one.getBoundingClientRect().right > room
                             || one.getBoundingClientRect().left < -1)
                         && !one.closest(".skip"))
          .map(one => one.outerHTML.slice(0, 200));
        """
    )
    assert beyond == []


#: The page of each kind, made once: that two runs give the same is another test's business.
PAGES: dict[str, str] = {}


@pytest.fixture
def text(request: pytest.FixtureRequest) -> str:
    """Return a page of a kind."""
    if request.param not in PAGES:
        spoken = request.getfixturevalue(request.param)
        PAGES[request.param] = spoken if isinstance(spoken, str) else render_html(spoken)
    return PAGES[request.param]


KINDS = pytest.mark.parametrize(
    "text",
    ["sources", "measured", "hostile_text"],
    indirect=True,
    ids=["plain", "measured", "hostile"],
)


@KINDS
def test_nothing_is_said_on_the_console_and_nothing_is_fetched(
    browser: Any, text: str, tmp_path: Path
) -> None:
    browser.get("about:blank")
    requests(browser)
    browser.get_log("browser")
    address = show(browser, text, tmp_path)
    assert browser.title
    assert {url for url in requests(browser) if not url.startswith("data:")} == {address}
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.scripts.length") == 0
    # The policy lets the style of the page through: it is in force.
    size = "return getComputedStyle(document.querySelector('.lead')).fontSize"
    assert browser.execute_script(size) == "18.4px"


#: The narrowest and the widest by default.
WIDTHS = [360, pytest.param(768, marks=pytest.mark.slow), 1440]


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@KINDS
def test_nothing_overflows(
    browser: Any, text: str, tmp_path: Path, width: int, scheme: str
) -> None:
    show(browser, text, tmp_path, width, scheme)
    check_width(browser, width)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}[scheme]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dossier", ["paper", "statistics", "benchmark"])
def test_a_published_dossier_fits(browser: Any, tmp_path: Path, dossier: str, width: int) -> None:
    page = REPORTS / dossier / "index.html"
    browser.get_log("browser")
    show(browser, page.read_text(encoding="utf-8"), tmp_path, width, "dark")
    check_width(browser, width)
    assert browser.get_log("browser") == []


def test_the_keyboard_reaches_the_verdicts_first(
    browser: Any, sources: list[Source], tmp_path: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    show(browser, render_html(sources), tmp_path)
    browser.switch_to.active_element.send_keys(Keys.TAB)
    link = browser.switch_to.active_element
    assert link.text == "Skip to the verdicts"
    assert link.is_displayed()
    link.send_keys(Keys.ENTER)
    assert browser.current_url.endswith("#main")


def test_what_a_screen_reader_reads(browser: Any, sources: list[Source], tmp_path: Path) -> None:
    show(browser, render_html(sources), tmp_path)
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    spoken = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node["ignored"]
    ]
    roles = {role for role, _ in spoken}
    assert {"banner", "navigation", "main", "contentinfo", "table", "columnheader"} <= roles
    pictures = [name for role, name in spoken if role in ("image", "img", "graphics-document")]
    assert len(pictures) >= 7
    assert all(pictures)
    assert any(
        "1-protected DP of PTarget: claimed 1.000, lower bound 1.207" in name for name in pictures
    )
    tables = [name for role, name in spoken if role == "table"]
    assert all(tables)


def test_measured_pictures_are_read_and_seen(
    browser: Any, measured: list[Source], tmp_path: Path
) -> None:
    show(browser, render_html(measured), tmp_path, scheme="dark")
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    spoken = [
        node.get("name", {}).get("value", "")
        for node in tree
        if not node["ignored"] and node["role"]["value"] in ("image", "img", "graphics-document")
    ]
    assert all(spoken)
    for words in (
        "Targets found against oracle calls, single runs and their mean. Target finds 120 with "
        "2,000 calls. PTarget finds 108.2 with 2,000 calls, ± 6.77. Risk multiplier then: claimed "
        "1.2, true 1.5",
        "The same part of the network after each search",
        "Histogram of the loss by being isolated; the most exposed lose 0.5000",
    ):
        assert any(name.startswith(words) for name in spoken), words
    # Every curve is drawn in a colour that differs from the paper's, and follows dark mode.
    drawn = browser.execute_script(
        "return [...document.querySelectorAll('.plot path')].map(one => "
        "[getComputedStyle(one).stroke, getComputedStyle(one).strokeDasharray])"
    )
    strokes = {stroke for stroke, _ in drawn}
    assert {"rgb(142, 194, 255)", "rgb(255, 154, 145)", "rgb(230, 233, 237)"} <= strokes
    assert "rgb(0, 0, 0)" not in strokes
    assert len({dash for _, dash in drawn}) >= 3


def test_what_was_measured_prints(browser: Any, measured: list[Source], tmp_path: Path) -> None:
    show(browser, render_html(measured), tmp_path, scheme="dark")
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    pdf = base64.b64decode(printed["data"])
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 10
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    fill = "return getComputedStyle(document.querySelector('.plot text')).fill"
    assert browser.execute_script(fill) == "rgb(0, 0, 0)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_page_prints(browser: Any, sources: list[Source], tmp_path: Path) -> None:
    show(browser, render_html(sources), tmp_path, scheme="dark")
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF-")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 10
    # On paper it is light whatever the screen is, nothing is cut off, and navigation is left out.
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    style = "return getComputedStyle(document.querySelector('{}')).{}"
    assert browser.execute_script(style.format("body", "backgroundColor")) == "rgb(255, 255, 255)"
    assert browser.execute_script(style.format("nav", "display")) == "none"
    assert browser.execute_script(style.format(".scroll", "overflowX")) == "visible"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_single_claim_prints_on_three_pages(
    browser: Any, audit_body: dict[str, Any], tmp_path: Path
) -> None:
    audit_body["claims"] = audit_body["claims"][:1]
    show(browser, render_html([source_from_json(audit_body, "a.json")]), tmp_path)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"]))) <= 3
