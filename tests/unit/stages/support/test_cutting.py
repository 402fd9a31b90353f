"""Cutting a text: the figures of the reference systems, and what holds for any text."""

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.stages.support.cutting import (
    Direction,
    OutputLimits,
    TruncationStyle,
    byte_length,
    line_count,
    shorten,
    truncate,
)

HUNDRED_KB = "x" * 100_000
DOCUMENTED = OutputLimits(max_bytes=51_200, max_lines=2_000)
COPILOT = TruncationStyle(notice="[Tool response was too long and was truncated.]")


def lines(count: int) -> str:
    return "\n".join(f"Line {n}" for n in range(count))


def quarter(text: str) -> int:
    """Count as Copilot's figures do: 2,500 tokens for 10,000 characters."""
    return -(-len(text) // 4)


# NeuroLink's table for tool output.
@pytest.mark.parametrize(
    ("text", "limits", "direction", "truncated", "holds"),
    [
        ("short", DOCUMENTED, "tail", False, "short"),
        (HUNDRED_KB, DOCUMENTED, "tail", True, "[Output truncated from 100000 bytes to"),
        (lines(5_000), DOCUMENTED, "tail", True, "[Output truncated"),
        (lines(3_000), OutputLimits(max_lines=100), "head", True, "Line 0\n"),
        (lines(3_000), OutputLimits(max_lines=100), "tail", True, "Line 2999"),
        (HUNDRED_KB, OutputLimits(max_bytes=5_000), "tail", True, "[Output truncated"),
        (lines(3_000), OutputLimits(max_lines=50), "tail", True, "[Output truncated"),
    ],
)
def test_the_figures_of_neurolink(
    text: str, limits: OutputLimits, direction: Direction, *, truncated: bool, holds: str
) -> None:
    found = truncate(text, limits, TruncationStyle(direction=direction))
    assert (found.truncated, found.original_size) == (truncated, len(text))
    assert holds in found.content
    assert line_count(found.content) <= 2_000


def test_a_limit_that_is_just_reached_is_not_over() -> None:
    assert not truncate("x" * 51_200, DOCUMENTED, TruncationStyle()).truncated
    assert truncate("x" * 51_201, DOCUMENTED, TruncationStyle()).truncated
    assert not truncate(lines(2_000), DOCUMENTED, TruncationStyle()).truncated
    assert truncate(lines(2_001), DOCUMENTED, TruncationStyle()).truncated
    # NeuroLink counts a line break at the end as one more line.
    assert not truncate(lines(2_000) + "\n", DOCUMENTED, TruncationStyle()).truncated


def test_the_beginning_has_its_notice_behind_it_and_the_end_before_it() -> None:
    head = truncate(
        lines(3_000), OutputLimits(max_lines=100), TruncationStyle(direction="head")
    ).content
    tail = truncate(
        lines(3_000), OutputLimits(max_lines=100), TruncationStyle(direction="tail")
    ).content
    assert head.split("\n")[:99] == lines(99).split("\n")
    assert head.split("\n")[99].startswith("[Output truncated from 28889 bytes to ")
    assert tail.split("\n")[0].startswith("[Output truncated from 28889 bytes to ")
    assert tail.split("\n")[1:] == lines(3_000).split("\n")[-99:]


# NeuroLink's byte cut slices characters, so that 60,000 bytes came out as 60,053.
def test_bytes_are_bytes_and_not_characters() -> None:
    text = "é" * 30_000
    found = truncate(text, OutputLimits(max_bytes=50_000), TruncationStyle(direction="tail"))
    assert 49_950 <= byte_length(found.content) <= 50_000
    assert found.content.startswith("[Output truncated from 60000 bytes to 49")


# Copilot takes the 49 characters of its notice off the tokens, so that a limit of 1,000 tokens left
# 1,522 + 49 + 2,282 characters; a limit of 49 gave 10,049 and one of 48 gave 20,045 characters.
@pytest.mark.parametrize(
    ("limit", "head", "tail"),
    [(2_500, 10_000, 0), (1_000, 1_580, 2_371), (49, 59, 88), (48, 57, 86)],
)
def test_two_fifths_come_from_the_beginning(limit: int, head: int, tail: int) -> None:
    text = "a" * 10_000
    found = truncate(text, OutputLimits(max_tokens=limit), COPILOT, quarter)
    if not tail:
        assert found.content == text
        return
    notice = "\n[Tool response was too long and was truncated.]\n"
    assert found.content == "a" * head + notice + "a" * tail
    assert quarter(found.content) == limit


@pytest.mark.parametrize(("limit", "left"), [(30, "[Output truncated from 100000 "), (1, "[")])
def test_of_a_notice_without_room_the_beginning_is_left(limit: int, left: str) -> None:
    assert truncate(HUNDRED_KB, OutputLimits(max_bytes=limit), TruncationStyle()).content == left


def test_the_sizes_in_the_notice_are_true() -> None:
    cutting = TruncationStyle(
        direction="head", notice="<{original} {kept} {omitted} {other}>", pointer="-> P"
    )
    content = truncate(HUNDRED_KB, OutputLimits(max_bytes=100), cutting).content
    assert content == "x" * 69 + "\n<100000 69 99931 {other}>\n-> P"


def test_a_near_line_break_is_where_the_cut_is() -> None:
    content = truncate(lines(900), OutputLimits(max_bytes=1_000), TruncationStyle()).content
    kept = [line for line in content.split("\n") if not line.startswith("[")]
    assert set(kept) < set(lines(900).split("\n"))


@pytest.mark.parametrize("unit", ["👩‍💻", "e\u0301", "👍🏽", "\r\n", "\ud83d\ude42", "日"])
def test_what_a_reader_sees_as_one_character_stays_whole(unit: str) -> None:
    for size in range(80, 96):
        content = truncate(
            unit * 100, OutputLimits(max_bytes=size), TruncationStyle(notice="|")
        ).content
        head, _, tail = content.partition("|")
        for piece in (head.removesuffix("\n"), tail.removeprefix("\n")):
            assert piece.replace(unit, "").strip("\r\n") == ""
    short = shorten(unit * 100, 41, len, "...")
    assert short.removesuffix("...").replace(unit, "").strip() == ""


TEXTS = st.text(st.sampled_from("ab é👩\u200d💻\u0301\n\r\ud83d."), max_size=300)
LIMITS = st.builds(
    OutputLimits,
    max_bytes=st.integers(0, 200),
    max_lines=st.integers(0, 9),
    max_tokens=st.integers(0, 90),
)
CUTTINGS = st.builds(
    TruncationStyle,
    direction=st.sampled_from(["head", "tail", "both"]),
    head_ratio=st.floats(0, 1),
    notice=st.sampled_from(["[{kept} of {original}]", "", "é[{omitted}]"]),
)


@tries(120)
@given(text=TEXTS, limits=LIMITS, cutting=CUTTINGS)
def test_never_over_a_limit_never_larger_and_settled(
    text: str, limits: OutputLimits, cutting: TruncationStyle
) -> None:
    found = truncate(text, limits, cutting, quarter)
    assert limits.exceeded_limit(found.content, quarter) == ""
    assert byte_length(found.content) <= byte_length(text)
    assert found.truncated == bool(limits.exceeded_limit(text, quarter))
    assert truncate(found.content, limits, cutting, quarter).content == found.content


def test_a_cut_is_at_the_first_line_break_or_behind_the_last_one_within_reach() -> None:
    limits, style = OutputLimits(max_bytes=40), TruncationStyle(direction="head", notice="[cut]")
    assert truncate("\n" + "x" * 60, limits, style).content == "[cut]"
    assert truncate("one two\n" + "x" * 60, limits, style).content == "one two\n[cut]"
    tail = TruncationStyle(direction="tail", notice="[cut]")
    assert truncate("x" * 60 + "\none two", limits, tail).content == "[cut]\none two"
    assert truncate("x" * 250 + "\n" + "y" * 210, OutputLimits(max_bytes=270), style).content == (
        "x" * 250 + "\n[cut]"
    )
    assert truncate("x" * 50 + "\n" + "y" * 410, OutputLimits(max_bytes=270), style).content == (
        "x" * 50 + "\n" + "y" * 213 + "\n[cut]"
    )


def test_a_shortened_text_ends_with_a_sentence_or_a_word() -> None:
    text = "The first one. The second one is longer, and goes on and on."
    assert shorten(text, 20, len, "...") == "The first one. ..."
    assert shorten(text, 42, len, "...") == "The first one. The second one is..."
    assert shorten("x" * 50, 20, len, "...") == "..."
    assert shorten("x" * 500, 20, len, "...") == "x" * 17 + "..."
    assert shorten("one two three", 7, len, "...") == "one..."
    assert shorten(text, 2, len, "...") == ""
    assert shorten("One two. Three", 12, len, "...") == "One two. ..."
    assert shorten("One two. Three", 11, len, "...") == "One two...."
    assert shorten("\nabc", 4, len, "") == "\nabc"


@tries(120)
@given(text=TEXTS, size=st.integers(0, 120), mark=st.sampled_from(["...", "", " […]"]))
def test_a_shortened_text_fits_with_its_mark(text: str, size: int, mark: str) -> None:
    short = shorten(text, size, len, mark)
    assert len(short) <= size
    assert short == "" or short.endswith(mark)
    assert text.startswith(short.removesuffix(mark).rstrip())
