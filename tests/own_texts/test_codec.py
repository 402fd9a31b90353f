"""Digests and hand-overs are read back as they were written, whatever they quote."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_texts.texts import OWN_LINES, OWN_TEXTS, TEXTS

from compactctl.commands.compact.draft import archive_hint
from compactctl.model.own_texts import HandOver, OwnDigest, decode, find_own_texts

GO_ON = "Keep going until the task is completely done; only then end your turn."


@given(OWN_TEXTS)
def test_what_is_written_is_read_back(own: OwnDigest | HandOver) -> None:
    assert decode(own.encode()) == own


@given(OWN_TEXTS)
def test_nothing_of_it_is_somebody_elses(own: OwnDigest | HandOver) -> None:
    assert find_own_texts(own.encode()) == ((own,), "")


@given(OWN_TEXTS, TEXTS, TEXTS, st.sampled_from(("\n", "\n\n")))
def test_it_is_found_in_a_longer_text(
    own: OwnDigest | HandOver, before: str, after: str, separator: str
) -> None:
    assert own in find_own_texts(separator.join((before, own.encode(), after))).texts


@given(OWN_TEXTS, st.sampled_from(("Use tabs.", "- one\n- two", "  indented", "> quoted\n[L3] x")))
def test_what_is_joined_with_it_is_the_rest(own: OwnDigest | HandOver, words: str) -> None:
    for text in (f"{words}\n\n{own.encode()}", f"{own.encode()}\n\n{words}"):
        assert find_own_texts(text) == ((own,), words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[Earlier conversation]:\n\n", ""),
        ("<conversation-summary>\n\n", "\n</conversation-summary>"),
        ("", f"\n\n{archive_hint(Path('a b'), is_archived=True, lines=1_204)}"),
        ("", f"\n\n{archive_hint(None, is_archived=False, lines=3)}"),
        ("", "\n\n[Large tool message (~5K tokens) omitted from summary] [image/png, 9 bytes]"),
        (
            "<conversation-summary>\n\n",
            f"\n</conversation-summary>\n{GO_ON}",
        ),
    ],
)
def test_what_a_stage_writes_around_it_is_not(before: str, after: str) -> None:
    own = OwnDigest(count=3)
    assert find_own_texts(f"{before}{own.encode()}{after}") == ((own,), "")
    assert find_own_texts(f"{before}{own.encode()}{after}\n\nGo on.") == ((own,), "Go on.")


@pytest.mark.parametrize("line", [*OWN_LINES, "9 earlier messages"])
def test_no_text_takes_long(line: str) -> None:
    """Read what would take minutes if each line were looked for to the end of the text."""
    start = OwnDigest(count=3).encode().split("\n", maxsplit=1)[0]
    for text in (f"{line}\n" * 20_000, f"{start}\n## Course\n" + f"{line}\n" * 20_000):
        assert len(find_own_texts(text).rest) <= len(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[urgent]\n\n", ""),
        ("Replace this tag:\n<section>\n\n", ""),
        ("", "\n\n</div> is missing in a.html, add it."),
        ("", f"\n\n{GO_ON}"),
        ("", "\n\n[Large user message (~5K tokens) omitted from summary] Never drop it."),
        ("", "\n\nThe messages that this summary stands for are kept word for word in a.txt."),
        ("", "\n\n    if a:\n        pass"),
        ("", " Now use tabs."),
    ],
)
def test_what_somebody_writes_beside_it_is_the_rest(before: str, after: str) -> None:
    own = OwnDigest(count=3)
    found = find_own_texts(f"{before}{own.encode()}{after}")
    assert (found.texts, found.rest.strip()) == ((own,), (before + after).strip())
    assert ("    if a" in found.rest) == ("    if a" in after)


def test_windows_line_ends_do_not_hide_it() -> None:
    own = OwnDigest(count=3, names=("a", "b"))
    assert find_own_texts(own.encode().replace("\n", "\r\n")).texts == (own,)
