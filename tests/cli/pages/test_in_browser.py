"""Pages in a real browser: nothing is fetched, nothing fails, and hand and keyboard reach all."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from browser import start_browser
from cli.asking import SAMPLES, Ask, Sample
from cli.pages.hostile import HOSTILE, session
from cli.pages.reading import Page, document_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as BrowserPage

Scheme = Literal["light", "dark"]
SESSIONS = ["claude-code-session", "codex-session", "openai-chat", "hostile"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Browser"]:
    with start_browser(str(tmp_path_factory.mktemp("home"))) as browser:
        yield browser


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
        "evaluation": ("lab", "eval", path, "--counter", "chars/4", "--stages", "distill"),
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


def opened(browser: "Browser", made: Path, width: int, scheme: Scheme = "light") -> "BrowserPage":
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


def test_the_slider_and_the_pointer_select_a_request(browser: "Browser", made: Path) -> None:
    requests = [f"Request {row['Request']}" for row in Page(made).table]
    page = opened(browser, made, 1_024)
    readout, slider = page.locator("[data-readout]"), page.locator("[data-slide]")
    assert requests[-1] in readout.inner_text()
    slider.focus()
    slider.press("ArrowLeft")
    assert requests[-2] in readout.inner_text()
    slider.press("Home")
    assert requests[0] in readout.inner_text()
    assert "tokens" in (slider.get_attribute("aria-valuetext") or "")
    plot = page.locator(".plot").first
    box = plot.bounding_box()
    assert box
    plot.hover(position={"x": box["width"] - 2, "y": 20})
    assert requests[-1] in readout.inner_text()
    plot.click(position={"x": 2, "y": 20})
    target = readout.locator("a").first.get_attribute("href") or ""
    assert page.evaluate("location.hash") == target
    assert page.locator(f"{target}[open]").count() == 1
    page.close()


def test_the_keyboard_reaches_messages_and_what_finds_them(
    browser: "Browser", listing: Path
) -> None:
    everything = len(Page(listing).texts)
    page = opened(browser, listing, 1_024)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    count = page.locator("[data-count]")
    assert count.inner_text().startswith(f"{everything} of {everything} messages, ")
    page.evaluate("document.querySelector('.messages').scrollIntoView()")
    first = page.locator(".m summary").first
    first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".m[open]").count() == 1
    page.locator("[data-words]").fill(page.locator(".m[open] pre").inner_text()[:12])
    page.locator(".m").first.wait_for()
    assert 0 < int(count.inner_text().split()[0]) <= everything
    page.locator("[data-words]").fill("no message says this")
    assert page.locator(".m").count() == 0
    assert count.inner_text() == f"0 of {everything} messages, 0 tokens"
    page.close()


def test_a_link_leads_to_the_heading_of_a_message(browser: "Browser", made: Path) -> None:
    page = opened(browser, made, 1_440)
    links = page.locator(".bars a")
    for index in range(links.count()):
        links.nth(index).click()
        page.wait_for_timeout(300)
        assert _distance_of_target(page) <= 2, links.nth(index).inner_text()
    # The same link again, from elsewhere, and to a message that the filter leaves out.
    last = links.nth(links.count() - 1)
    page.locator("[data-words]").fill("no message says this")
    last.click()
    assert page.locator(".m.target[open]").count() == 1
    assert _distance_of_target(page) <= 2
    page.close()


def _distance_of_target(page: "BrowserPage") -> float:
    """Return how far the row that a link leads to is from the top, or from the end of the page."""
    distance: float = page.evaluate("""() => {
        const root = document.documentElement, top = document.querySelector(".m.target")
            .getBoundingClientRect().top;
        return Math.min(Math.abs(top), root.scrollHeight - root.clientHeight - scrollY);
    }""")
    return distance


def talk(ask: Ask, folder: Path, count: int) -> Path:
    """Return a page of this many messages, of 450 characters each."""
    lines = (
        json.dumps({"role": ("user", "assistant")[n % 2], "content": f"{n} " + "word " * 90})
        for n in range(count)
    )
    path, page = folder / "run.jsonl", folder / "page.html"
    path.write_text("".join(f"{line}\n" for line in lines))
    assert ask("stats", path, "--counter", "chars/4", "--html", page).code == 0
    return page


def test_rows_are_drawn_while_they_are_in_view(
    browser: "Browser", ask: Ask, tmp_path: Path
) -> None:
    made = talk(ask, tmp_path, 4_200)
    page = opened(browser, made, 1_440)
    for place in ("0", "document.body.scrollHeight / 2", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {place})")
        page.wait_for_timeout(200)
        assert page.evaluate("document.querySelectorAll('*').length") < 2_000
    assert page.locator(".m").last.get_attribute("id") == list(Page(made).texts)[-1]
    page.locator(".figures summary").click()
    page.locator(".figures td").first.wait_for()
    assert page.evaluate("document.querySelectorAll('*').length") < 4_000
    # Words are found in rows that are not drawn, and in all of a text.
    page.locator("[data-words]").fill("2718 word")
    assert page.locator("[data-count]").inner_text().startswith("1 of 4,000 messages, ")
    page.close()


@pytest.mark.parametrize("width", [390, 1_440, 1_680])
def test_a_preview_fills_its_row(browser: "Browser", ask: Ask, tmp_path: Path, width: int) -> None:
    page = opened(browser, talk(ask, tmp_path, 60), width)
    page.evaluate("document.querySelector('.messages').scrollIntoView()")
    page.locator(".m").first.wait_for()
    cut = page.evaluate(
        "[...document.querySelectorAll('.m span')].map((it) => it.scrollWidth > it.clientWidth)"
    )
    assert cut
    assert all(cut)
    page.close()


def test_messages_are_filtered_and_sorted(browser: "Browser", ask: Ask, tmp_path: Path) -> None:
    path, made = SAMPLES / "claude-code-session.jsonl", tmp_path / "page.html"
    assert ask("stats", path, "--html", made).code == 0
    document = document_of(ask, path)
    page = opened(browser, made, 1_440)
    page.locator("[data-sort]").select_option("tokens")
    page.evaluate("document.querySelector('.messages').scrollIntoView()")
    page.locator(".m").first.wait_for()
    sizes = [int(text.replace(",", "")) for text in page.locator(".m em").all_inner_texts()]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == document["largestMessages"][0]["tokens"]
    read = document["rereads"][0]
    for by, value, least in (
        ("file", read["path"], read["reads"]),
        ("tool", document["tools"][0]["tool"], document["tools"][0]["calls"]),
    ):
        page.locator(f"[data-by={by}]").select_option(value)
        found = int(page.locator("[data-count]").inner_text().split()[0])
        assert least <= found < document["file"]["historyMessages"]
        page.locator(f"[data-by={by}]").select_option("")
    page.locator("[data-by=category]").select_option("file reads")
    page.locator(".m").first.wait_for()
    colors = page.locator(".m rect").evaluate_all("all => all.map((it) => it.className.baseVal)")
    assert set(colors) == {"c-file-reads"}
    page.close()


def test_only_what_is_wrong_is_red(browser: "Browser", made: Path) -> None:
    page = opened(browser, made, 1_440)
    red = page.evaluate("""() => [...document.querySelectorAll("main *")]
        .filter((it) => getComputedStyle(it).color === "rgb(192, 38, 45)")
        .map((it) => it.className)""")
    assert set(red) <= {"warning", "wrong"}
    assert ("wrong" in red) is ("does not fit" in page.locator(".big").inner_text())
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
    assert not page.locator("[data-slide]").is_visible()
    assert not page.locator("[data-words]").is_visible()
    page.locator(".figures summary").click()
    assert page.locator(".figures table").is_visible()
    page.locator(".m summary").last.click()
    assert page.locator(".m pre").last.is_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_people_out(browser: "Browser", any_page: Path, scheme: Scheme) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs dev-long")
    page = browser.new_page(color_scheme=scheme)
    page.goto(any_page.as_uri())
    if page.locator("[data-messages]").count():
        page.evaluate("document.querySelector('.messages').scrollIntoView()")
        page.locator(".m").first.wait_for()
    page.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
    found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], each["impact"], len(each["nodes"])) for each in found] == []
    page.close()
