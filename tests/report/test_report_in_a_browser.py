"""The report in a real headless Chromium: drawn, quiet on the console, and harmless. Screenshots are kept."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

from tests.commands import psopt  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not DRIVER, reason="no chromedriver is installed (Debian: chromium-driver)")
SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
HOSTILE = "<script>document.title='broken into'</script><img src=x onerror=alert(1)>"
FIGURES = {"front", "class-sensitivity", "sample-sensitivity", "joint-view", "class-consistency", "flips"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
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


@pytest.fixture(scope="module", params=["light", "dark"])
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,1000", "--no-proxy-server"):
        options.add_argument(word)
    if request.param == "dark":
        options.add_argument("--blink-settings=preferredColorScheme=0")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver: Any = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.theme = request.param
    yield driver
    driver.quit()


def opened(browser: Any, path: Path) -> Any:
    browser.get(path.as_uri())
    everything = "return [...document.querySelectorAll('[data-figure]')].every((one) => one.querySelector('.main-svg'))"
    WebDriverWait(browser, 30).until(lambda _: browser.execute_script(everything))
    return browser


def test_it_is_drawn_without_a_word_on_the_console(browser: Any, folder: Any) -> None:
    page = opened(browser, folder / "run" / "report.html")
    drawn = {one.get_attribute("data-figure") for one in page.find_elements(By.CSS_SELECTOR, "[data-figure]")}
    assert drawn >= FIGURES
    assert page.get_log("browser") == []
    assert page.title.startswith("psopt: data")
    wide = page.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, "the page scrolls sideways"
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.save_screenshot(str(SCREENSHOTS / f"report-{browser.theme}.png"))


def test_on_a_phone_titles_of_panels_stand_apart_and_the_page_stays_in_its_width(browser: Any, folder: Any) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        page = opened(browser, folder / "run" / "report.html")
        wide = page.execute_script("return document.documentElement.scrollWidth - innerWidth")
        titles = page.execute_script(
            "return [...document.querySelectorAll('[data-figure=confusion] .annotation-text')]"
            ".map((title) => { const box = title.getBoundingClientRect(); return [box.left, box.right] })"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= 0, "the page scrolls sideways"
    (_, end_of_first), (start_of_second, _) = titles
    assert end_of_first < start_of_second


def test_on_paper_no_table_is_cut(browser: Any, folder: Any) -> None:
    page = opened(browser, folder / "run" / "report.html")
    a4 = {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False}  # CSS pixels within Chromium's margins
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", a4)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        beyond = "(table) => table.getBoundingClientRect().right - innerWidth"
        wide = page.execute_script(f"return [...document.querySelectorAll('table')].map({beyond})")
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide
    assert max(wide) <= 0


def test_pointing_at_a_prompt_shows_its_edits(browser: Any, folder: Any) -> None:
    page = opened(browser, folder / "run" / "report.html")
    plot = page.find_element(By.CSS_SELECTOR, "[data-figure=front]")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    dots = plot.find_elements(By.CSS_SELECTOR, ".scatterlayer .point")
    assert len(dots) == 8
    ActionChains(page).move_to_element(dots[-1]).perform()
    shown = WebDriverWait(page, 10).until(lambda _: plot.find_elements(By.CSS_SELECTOR, ".hovertext"))
    assert "trial" in shown[0].text
    assert "F1" in shown[0].text
    page.save_screenshot(str(SCREENSHOTS / f"hover-{browser.theme}.png"))


def test_hostile_text_is_shown_and_does_nothing(browser: Any, folder: Any) -> None:
    page = opened(browser, folder / "run" / "report.html")
    assert "broken into" not in page.title
    assert page.find_elements(By.CSS_SELECTOR, "img") == []
    assert "<b>Person</b>" in page.find_element(By.ID, "class-sensitivity").text
    assert "<script>document.title" in page.find_element(By.TAG_NAME, "body").text


def test_a_prompt_is_copied_whole(browser: Any, folder: Any) -> None:
    page = opened(browser, folder / "run" / "report.html")
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


def test_a_diagnosis_is_drawn_too(browser: Any, folder: Any) -> None:
    page = opened(browser, folder / "diagnosis.html")
    assert page.get_log("browser") == []
    assert page.find_elements(By.CSS_SELECTOR, "#joint-view .main-svg")
    page.save_screenshot(str(SCREENSHOTS / f"diagnosis-{browser.theme}.png"))


def test_it_prints_on_white_paper_with_nothing_cut_off(browser: Any, folder: Any) -> None:
    page = opened(browser, folder / "run" / "report.html")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    widths = page.execute_script(
        "return [...document.querySelectorAll('.main-svg')].map((one) => one.getBoundingClientRect().width)"
    )
    assert max(widths) <= 680
    printed = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert len(printed["data"]) > 50_000
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
