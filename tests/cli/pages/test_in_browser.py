"""Pages in a real browser: nothing is fetched, nothing fails, and hand and keyboard reach all."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from cli.asking import Ask, Sample
from cli.pages.hostile import HOSTILE, session

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra dev-long")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

Scheme = Literal["light", "dark"]
SESSIONS = ["claude-code-session", "codex-session", "openai-chat", "hostile"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Browser"]:
    home = str(tmp_path_factory.mktemp("home"))
    places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), home)
    # Its own sandbox refuses to run for root.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(
            executable_path=CHROMIUM, args=flags, env={**os.environ, **places}
        )
        yield started
        started.close()


@pytest.fixture(params=SESSIONS)
def made(request: pytest.FixtureRequest, ask: Ask, sample: Sample, tmp_path: Path) -> Path:
    return session_page(request.param, ask, sample, tmp_path)


@pytest.fixture(params=[*SESSIONS, "compaction"])
def listing(request: pytest.FixtureRequest, ask: Ask, sample: Sample, tmp_path: Path) -> Path:
    """Return a page that lists messages."""
    return page_named(request.param, ask, sample, tmp_path)


@pytest.fixture(params=[*SESSIONS, "compaction", "evaluation", "batch"])
def any_page(request: pytest.FixtureRequest, ask: Ask, sample: Sample, tmp_path: Path) -> Path:
    return page_named(request.param, ask, sample, tmp_path)


def page_named(name: str, ask: Ask, sample: Sample, folder: Path) -> Path:
    """Return a page of the kind that is asked for."""
    if name in SESSIONS:
        return session_page(name, ask, sample, folder)
    page, path = folder / "page.html", sample("claude-code-session")
    asked: dict[str, tuple[str | Path, ...]] = {
        "compaction": ("compact", "-n", path, "--stages", "dedup,prune,summarize",
                       "--prune-min-savings", "0"),
        "evaluation": ("eval", path, "--counter", "chars/4", "--stages", "distill"),
        "batch": ("batch", path, sample("codex-session"), sample("openai-chat"), "--no-cache"),
    }  # fmt: skip
    assert ask(*asked[name], "--html", page).code == 0
    return page


def session_page(name: str, ask: Ask, sample: Sample, folder: Path) -> Path:
    """Return a page of a bundled session, or of one that would like to be obeyed."""
    page = folder / "page.html"
    path = session(folder, *HOSTILE.values()) if name == "hostile" else sample(name)
    assert ask("stats", path, "--prices", "builtin", "--html", page).code == 0
    return page


def opened(browser: "Browser", made: Path, width: int, scheme: Scheme = "light") -> "Page":
    """Open a page; whatever it says on the console or asks for ends the test."""
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.set_default_timeout(20_000)
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: told.append(request.url))
    page.goto(made.as_uri())
    assert told == [made.as_uri()]
    return page


@pytest.mark.each_choice
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1_024, 2_560])
def test_a_page_fits_and_is_silent(
    browser: "Browser", any_page: Path, width: int, scheme: Scheme
) -> None:
    page = opened(browser, any_page, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(",")))
    assert (light > 3 * 128) is (scheme == "light")
    page.close()


def test_the_slider_and_the_pointer_tell_of_a_request(browser: "Browser", made: Path) -> None:
    page = opened(browser, made, 1_024)
    rows = page.locator("[data-table] tbody tr")
    told, slider = page.locator("[data-readout]"), page.locator("[data-slide]")
    assert _request(page, rows.count() - 1) in told.inner_text()
    slider.focus()
    slider.press("ArrowLeft")
    assert _request(page, rows.count() - 2) in told.inner_text()
    slider.press("Home")
    assert _request(page, 0) in told.inner_text()
    assert "tokens" in (slider.get_attribute("aria-valuetext") or "")
    plot = page.locator(".plot").first
    box = plot.bounding_box()
    assert box
    plot.hover(position={"x": box["width"] - 2, "y": 20})
    assert _request(page, rows.count() - 1) in told.inner_text()
    plot.click(position={"x": 2, "y": 20})
    target = told.locator("a").first.get_attribute("href") or ""
    assert page.evaluate("location.hash") == target
    assert page.locator(f"{target}[open]").count() == 1
    page.close()


def _request(page: "Page", row: int) -> str:
    cells = page.locator("[data-table] tbody tr").nth(row).locator("td").all_text_contents()
    return f"Request {cells[0]}"


def test_the_keyboard_reaches_messages_and_what_finds_them(
    browser: "Browser", listing: Path
) -> None:
    page = opened(browser, listing, 1_024)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    first = page.locator(".m summary").first
    first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".m[open]").count() == 1
    everything = page.locator(".m").count()
    page.locator("[data-words]").fill(page.locator(".m[open] pre").inner_text()[:12])
    assert 0 < page.locator(".m:visible").count() <= everything
    page.locator("[data-words]").fill("no message says this")
    assert page.locator(".m:visible").count() == 0
    assert page.locator("[data-count]").inner_text() == f"0 of {everything}"
    page.close()


def test_the_pointer_tells_of_a_message_and_leads_to_it(
    browser: "Browser", ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    made = tmp_path / "page.html"
    asked = ("--stages", "summarize", "--html", made)
    assert ask("compact", "-n", sample("openai-chat"), *asked).code == 0
    page = opened(browser, made, 1_024)
    told = page.locator("[data-readout]")
    assert "kept: system prompt" in told.inner_text()
    plot = page.locator(".plot").first
    box = plot.bounding_box()
    assert box
    plot.click(position={"x": box["width"] - 2, "y": 20})
    assert "kept: system prompt" not in told.inner_text()
    target = page.evaluate("location.hash")
    assert page.locator(f"{target}[open] .why").inner_text().startswith("kept: ")
    page.close()


def test_without_its_script_all_is_there(browser: "Browser", made: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(made.as_uri())
    assert page.locator(".plot").first.is_visible()
    page.locator(".figures summary").click()
    assert page.locator("[data-table]").is_visible()
    page.locator(".m summary").last.click()
    assert page.locator(".m pre").last.is_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_people_out(browser: "Browser", any_page: Path, scheme: Scheme) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs dev-long")
    page = browser.new_page(color_scheme=scheme)
    page.goto(any_page.as_uri())
    found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], each["impact"], len(each["nodes"])) for each in found] == []
    page.close()
