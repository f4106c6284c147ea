"""The report in a real headless Chromium: drawn, quiet on the console, and harmless. Screenshots are kept."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

from tests.commands import psopt  # noqa: E402

DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not DRIVER, reason="no chromedriver is installed (Debian: chromium-driver)")
SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
HOSTILE = "<script>document.title='broken into'</script><img src=x onerror=alert(1)>"
FIGURES = {"front", "class-sensitivity", "sample-sensitivity", "joint-view", "consistency-matrices", "flips"}
BEYOND = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and a diagnosis of hostile data: texts, and one of the labels."""
    folder = tmp_path_factory.mktemp("browser")
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        for i in range(40):
            text, label = (f"when did {i} end", "Number") if i % 2 else (f"who saw {i}", "<b>Person</b>")
            rows.append(f'{split}{i},"{text} in {split} {HOSTILE}?",{label},{split}')
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    given = ["--dataset", "data.csv", "--model", "sim/wobble=0.6,accuracy=0.6,na=0", "--rephrasings", "5"]
    psopt(folder, "optimize", *given, "--trials", "8", "--out", "run", "--quiet", code=0)
    psopt(folder, "diagnose", *given, "--html", "diagnosis.html", "--quiet", code=0)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,1000", "--no-proxy-server"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver: Any = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    yield driver
    driver.quit()


def opened(browser: Any, path: Path) -> Any:
    browser.get(path.as_uri())
    everything = "return [...document.querySelectorAll('[data-figure]')].every((one) => one.querySelector('.main-svg'))"
    WebDriverWait(browser, 30).until(lambda _: browser.execute_script(everything))
    return browser


@contextlib.contextmanager
def in_media(browser: Any, **media: Any) -> Iterator[None]:
    """Paper, or a screen whose user likes it dark."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


@contextlib.contextmanager
def emulated(page: Any, width: int, height: int, *, is_phone: bool = False) -> Iterator[None]:
    """A screen of this size, in CSS pixels."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_is_drawn_in_its_width_without_a_word_on_the_console(theme: str, browser: Any, folder: Path) -> None:
    with in_media(browser, features=[{"name": "prefers-color-scheme", "value": theme}]):
        page = opened(browser, folder / "run" / "report.html")
        drawn = {one.get_attribute("data-figure") for one in page.find_elements(By.CSS_SELECTOR, "[data-figure]")}
        assert drawn >= FIGURES
        assert page.get_log("browser") == []
        assert page.title.startswith("psopt: data")
        assert page.execute_script(f"return {BEYOND}") <= 0, "the page scrolls sideways"
        assert page.execute_script("return matchMedia('(prefers-color-scheme: dark)').matches") == (theme == "dark")
        page.save_screenshot(str(SCREENSHOTS / f"report-{theme}.png"))


def test_so_is_a_diagnosis(browser: Any, folder: Path) -> None:
    page = opened(browser, folder / "diagnosis.html")
    assert page.get_log("browser") == []
    assert page.find_elements(By.CSS_SELECTOR, "#joint-view .main-svg")
    page.save_screenshot(str(SCREENSHOTS / "diagnosis.png"))


def test_on_a_phone_titles_of_panels_stand_apart_and_the_page_stays_in_its_width(browser: Any, folder: Path) -> None:
    titles = (
        "[...document.querySelectorAll('[data-figure=confusion] .annotation-text')]"
        ".map((title) => { const box = title.getBoundingClientRect(); return [box.left, box.right] })"
    )
    with emulated(browser, 390, 844, is_phone=True):
        page = opened(browser, folder / "run" / "report.html")
        wide, panels = page.execute_script(f"return [{BEYOND}, {titles}]")
    assert wide <= 0, "the page scrolls sideways"
    (_, end_of_first), (start_of_second, _) = panels
    assert end_of_first < start_of_second


@pytest.fixture(scope="module")
def page(browser: Any, folder: Path) -> Any:
    """The report, which stays open for the tests below."""
    return opened(browser, folder / "run" / "report.html")


def test_hostile_text_is_shown_and_does_nothing(page: Any) -> None:
    assert "broken into" not in page.title
    assert page.find_elements(By.CSS_SELECTOR, "img") == []
    assert "<b>Person</b>" in page.find_element(By.ID, "class-sensitivity").text
    assert "<script>document.title" in page.find_element(By.TAG_NAME, "body").text


def test_a_prompt_is_copied_whole(page: Any, folder: Path) -> None:
    button = page.find_element(By.CSS_SELECTOR, "button[data-copy]")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    WebDriverWait(page, 10).until(lambda _: button.text == "copied")
    area = page.execute_script(
        "const area = document.body.appendChild(document.createElement('textarea')); area.focus(); return area"
    )
    area.send_keys("\ue009v")  # Ctrl-V
    prompt_id = button.get_attribute("data-copy").removeprefix("text-")
    whole = (folder / "run" / "prompts" / f"{prompt_id}.txt").read_text().strip()
    assert page.execute_script("return arguments[0].value", area).strip() == whole


def test_on_paper_nothing_is_cut_off(page: Any) -> None:
    with in_media(page, media="print"), emulated(page, 718, 1000):  # A4 within Chromium's margins
        beyond = "(table) => table.getBoundingClientRect().right - innerWidth"
        tables = page.execute_script(f"return [...document.querySelectorAll('table')].map({beyond})")
        assert max(tables) <= 0
        figures = "[...document.querySelectorAll('.main-svg')].map((one) => one.getBoundingClientRect().width)"
        assert max(page.execute_script(f"dispatchEvent(new Event('beforeprint')); return {figures}")) <= 680
        assert len(page.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"]) > 50_000
