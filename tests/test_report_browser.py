"""The report in a real browser: nothing is loaded, nothing complains, the player steps, dark mode applies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sparseuap.cli import main

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
webdriver = pytest.importorskip("selenium.webdriver", reason="the extra `browser` (selenium) is not installed")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="no chromium and chromedriver on this machine"),
]
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


class Browser:
    """One page in a headless Chromium."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def load(self, address: str, *, dark: bool = False, width: int = 1100) -> None:
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.requests(), self.complaints()
        self.driver.get(address)

    def run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def part(self, name: str) -> Any:
        return self.driver.find_element("id", f"player-{name}")

    def press(self, *keys: str) -> None:
        self.run("document.getElementById('player-box').focus()")
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    @property
    def place(self) -> str:
        return str(self.part("place").text)

    @property
    def values(self) -> list[str]:
        cells = self.run("return [...document.querySelectorAll('#player-rows .value')].map(cell => cell.title)")
        return [str(cell) for cell in cells]

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        messages = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [
            found["params"]["request"]["url"]
            for found in messages
            if found["method"] == "Network.requestWillBeSent"
        ]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield Browser(driver)
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    case = ("star:n=4,w=1", "--target", "sort", "--construction", "relay")
    with pytest.raises(SystemExit) as stop:
        main(["report", *case, "--out", str(folder)])
    assert stop.value.code == 0
    return (folder / "index.html").as_uri()


@pytest.fixture(scope="module")
def data(address: str) -> dict[str, Any]:
    text = Path(address.removeprefix("file://")).read_text(encoding="utf-8")
    start = text.index('id="player-data">') + len('id="player-data">')
    found: dict[str, Any] = json.loads(text[start : text.index("</script>", start)])
    return found


def states(data: dict[str, Any], number: int = 0) -> list[list[str]]:
    """The values after every layer, from the data by hand."""
    run = data["inputs"][number]
    found = [list(run["start"])]
    for changes in run["changes"]:
        moved = dict(changes)
        found.append([moved.get(token, value) for token, value in enumerate(found[-1])])
    return found


def test_it_loads_without_a_complaint_and_asks_for_nothing(browser: Browser, address: str) -> None:
    browser.load(address)
    asked = [url for url in browser.requests() if not url.startswith("data:")]
    assert asked == [address]
    assert browser.complaints() == []
    assert browser.run("return document.fonts.size") == 0


def test_these_checks_notice_a_request_and_an_error(browser: Browser, address: str, tmp_path: Path) -> None:
    text = Path(address.removeprefix("file://")).read_text(encoding="utf-8")
    other = tmp_path / "other.png"
    (tmp_path / "bad.html").write_text(
        "<title>bad</title><img src='other.png'><script>missing()</script>", encoding="utf-8"
    )
    browser.load((tmp_path / "bad.html").as_uri())
    assert other.as_uri() in browser.requests()
    assert any("missing" in complaint for complaint in browser.complaints())
    # inside the report, its own policy stops the request too
    (tmp_path / "report.html").write_text(
        text.replace("</main>", "<img src='other.png'></main>"), encoding="utf-8"
    )
    browser.load((tmp_path / "report.html").as_uri())
    assert other.as_uri() in browser.requests()
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())


def test_the_player_steps_by_button(browser: Browser, address: str, data: dict[str, Any]) -> None:
    browser.load(address)
    wanted, total = states(data), len(data["layers"])
    assert (browser.place, browser.values) == ("Start", wanted[0])
    for layer in range(1, 6):
        browser.part("next").click()
        assert browser.place.startswith(f"Layer {layer} of {total}: ")
        assert browser.values == wanted[layer]
    browser.part("previous").click()
    assert browser.values == wanted[4]
    browser.part("last").click()
    assert (browser.place, browser.values) == ("Value mapping", wanted[-1])
    shown = browser.run("return [...document.querySelectorAll('#player-rows .why')].map(cell => cell.textContent)")
    assert shown == [f"output {value}" for value in data["inputs"][0]["outputs"]]
    browser.part("next").click()
    assert browser.place == "Value mapping"
    browser.part("first").click()
    assert browser.values == wanted[0]
    assert browser.complaints() == []


def test_the_player_steps_by_key(browser: Browser, address: str, data: dict[str, Any]) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.load(address)
    wanted = states(data)
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert browser.values == wanted[3]
    browser.press(Keys.ARROW_LEFT)
    assert browser.values == wanted[2]
    browser.press(Keys.END)
    assert browser.place == "Value mapping"
    browser.press(Keys.HOME)
    assert browser.place == "Start"
    browser.press(" ")
    assert browser.part("play").text.strip() == "Pause"
    browser.driver.implicitly_wait(5)
    browser.driver.find_element("css selector", "#player-rows .moved")
    browser.driver.implicitly_wait(0)
    browser.press(" ")
    assert browser.part("play").text.strip() == "Play"
    assert browser.place.startswith("Layer ")
    # the space bar on a button is the button's own: it steps once and does not play
    browser.part("first").click()
    browser.part("next").send_keys(" ")
    assert browser.values == wanted[1]
    assert browser.part("play").text.strip() == "Play"
    # the slider has the keys too
    browser.part("slider").send_keys(Keys.ARROW_RIGHT)
    assert browser.values == wanted[2]
    assert browser.part("slider").get_attribute("aria-valuetext") == browser.place


def test_inputs_scales_and_the_table(browser: Browser, address: str, data: dict[str, Any]) -> None:
    browser.load(address)
    browser.run(
        "const list = document.getElementById('player-input'); list.value = 5;"
        "list.dispatchEvent(new Event('change'))"
    )
    wanted = states(data, 5)
    assert browser.values == wanted[0]
    browser.part("next").click()
    token = next(token for token, _ in data["inputs"][5]["changes"][0])
    for name in ("whole", "near", "log"):
        browser.run(
            f"const list = document.getElementById('player-scale'); list.value = '{name}';"
            "list.dispatchEvent(new Event('change'))"
        )
        places = browser.run(
            "return [...document.querySelectorAll('#player-rows .dot')].map(dot => parseFloat(dot.style.left))"
        )
        order = sorted(range(len(places)), key=places.__getitem__)
        values = [int(value) for value in browser.values]
        assert order == sorted(order, key=values.__getitem__)
        assert 0 <= min(places) < max(places) <= 100
    moved = browser.run(
        "return [...document.querySelectorAll('#player-rows .moved th')].map(cell => cell.textContent)"
    )
    assert moved == [str(token)]
    browser.driver.find_element("css selector", "#player-all summary").click()
    from selenium.webdriver.support.wait import WebDriverWait

    # the table is built on `toggle`, which the browser sends after the click
    WebDriverWait(browser.driver, 10).until(
        lambda driver: driver.find_elements("css selector", "#player-table tbody tr")
    )
    rows = browser.run(
        "return [...document.querySelectorAll('#player-table tbody tr')]"
        ".map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    minus = "\N{MINUS SIGN}"
    assert rows[:-1] == [[value.replace("-", minus) for value in state] for state in wanted]
    assert rows[-1] == data["inputs"][5]["outputs"]


def test_dark_mode_and_narrow_screens(browser: Browser, address: str) -> None:
    colours = {}
    for dark in (False, True):
        browser.load(address, dark=dark)
        colours[dark] = browser.run(
            "const style = getComputedStyle(document.body);"
            "return [style.backgroundColor, style.color].map(c => c.match(/\\d+/g).slice(0, 3).map(Number))"
        )
    (light_back, light_ink), (dark_back, dark_ink) = colours[False], colours[True]
    assert min(light_back) > 200 > 60 > max(light_ink)
    assert max(dark_back) < 60 < 200 < min(dark_ink)
    browser.load(address, width=400)
    assert browser.run("return document.documentElement.scrollWidth") <= 400
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.run("return getComputedStyle(document.querySelector('.controls')).display") == "none"
    browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.run("return document.querySelectorAll('#player-table tbody tr').length") > 10
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
