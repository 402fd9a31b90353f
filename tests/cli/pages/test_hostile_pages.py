"""Text of a transcript is text on a page, whatever it says."""

from pathlib import Path

import pytest
from cli.asking import Ask
from cli.pages.hostile import HOSTILE, session
from cli.pages.reading import Page, assert_inert, page_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# Shown as escapes: they would reorder, hide or end what is on the page.
CONTROLS = {"bidi": 0x202E, "isolate": 0x2066, "escape": 0x1B, "null": 0, "c1": 0x9B}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("redact", [False, True])
def test_markup_is_shown_and_not_obeyed(
    ask: Ask, tmp_path: Path, name: str, *, redact: bool
) -> None:
    text = HOSTILE[name]
    path = session(tmp_path, text)
    page = page_of(ask, tmp_path, path, "--no-mask-secrets", *(["--redact"] if redact else []))
    assert_inert(page)
    assert (text in page.says) is (not redact)


@pytest.mark.parametrize("redact", [False, True])
def test_a_compaction_shows_markup_as_text(ask: Ask, tmp_path: Path, *, redact: bool) -> None:
    path, made = session(tmp_path, *HOSTILE.values()), tmp_path / "page.html"
    asked = ("-n", "--stages", "dedup,summarize", "--no-mask-secrets", "--html", made)
    outcome = ask("compact", path, *asked, *(["--redact"] if redact else []))
    assert outcome.code == 0, outcome.err
    page = Page(made)
    assert_inert(page)
    for text in HOSTILE.values():
        assert (text in page.says) is (not redact)


@pytest.mark.parametrize("name", CONTROLS)
def test_controls_are_shown_as_escapes(ask: Ask, tmp_path: Path, name: str) -> None:
    code = CONTROLS[name]
    page = page_of(ask, tmp_path, session(tmp_path, f"before {chr(code)} after"))
    assert_inert(page)
    assert chr(code) not in page.source
    escape = f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    assert f"before {escape} after" in page.says


def test_no_text_of_a_transcript_is_in_the_script(ask: Ask, tmp_path: Path) -> None:
    separators = "line\u2028and\u2029paragraph"
    first = page_of(ask, tmp_path, session(tmp_path, separators, "</script>"))
    second = page_of(ask, tmp_path, session(tmp_path, "nothing of that"), "-f")
    assert first.scripts == second.scripts
    assert separators in first.texts["m1"]


def test_secrets_are_masked_unless_they_are_wanted(ask: Ask, tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    path = session(tmp_path, f"my key is {key}, keep it")
    assert key not in page_of(ask, tmp_path, path).source
    assert key in page_of(ask, tmp_path, path, "--no-mask-secrets").source


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(min_size=1))
def test_any_text_leaves_a_page_whole(ask: Ask, tmp_path: Path, text: str) -> None:
    page = page_of(ask, tmp_path, session(tmp_path, text), "--counter", "chars/4", "-f")
    assert_inert(page)
