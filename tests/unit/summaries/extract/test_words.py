"""Where texts are cut: nothing that cuts one leaves a part of a word."""

import re
from collections.abc import Callable, Iterable

import pytest
from builders import call, conversation, result, user
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.stages.support.cutting import OutputLimits, TruncationStyle, shorten, truncate
from compactctl.summaries.digest.lines import QuotableLine, pieces_of, span_text
from compactctl.summaries.document.labels import truncate_text
from compactctl.summaries.extract.items import clip_middle, clip_to_line
from compactctl.summaries.extract.outcomes import error_lines, last_line
from compactctl.summaries.extract.passages import read_passages, tool_pairs
from compactctl.summaries.extract.user_words import choose_words
from compactctl.summaries.extract.words import is_inside_character, word_end, word_start

_WORD = re.compile(r"\w+")
_NAMES = st.from_regex(r"[a-zA-Z]{2,30}(_[a-z]{2,9}){0,3}", fullmatch=True)
_PATHS = st.lists(_NAMES, min_size=2, max_size=5).map("/".join)
_THINGS = st.one_of(_NAMES, _PATHS, _PATHS.map("https://example.org/{}".format))
# Between words: prose, code, data on one line, lists of folders, and nothing that parts them well.
_JOINTS = st.sampled_from([" ", " ", "\n", ",", '","', ": ", "(", "\\n", ":", ".", "/", "-"])
TEXTS = st.builds(
    "{0[0]}{1}".format,
    st.tuples(_THINGS),
    st.lists(st.tuples(_JOINTS, _THINGS).map("".join), max_size=60).map("".join),
)
# What is said where something is left out.
_MARKS = "… [… chars truncated] [Output truncated from 10 bytes to 10 bytes]"


def limited_to(text: str, size: int) -> Iterable[str]:
    for direction in ("head", "tail", "both"):
        yield truncate(
            text, OutputLimits(max_bytes=size), TruncationStyle(direction=direction)
        ).content


def asked(text: str, size: int) -> Iterable[str]:
    found = read_passages(conversation(user("a"), user(text), user("b")))
    texts = choose_words(found, size, len).texts
    return (texts[1],) if 1 in texts else ()


def told(text: str, size: int) -> Iterable[str]:
    """Return what is told of a failure that prints the text behind much else."""
    shown = f"{'x ' * size}{text}"
    command = call("c1", "Bash", command="make test")
    pair = tool_pairs(read_passages(conversation(command, result("c1", shown, is_error=True))))[0]
    return (last_line(pair), *error_lines(pair))


def pieces(text: str) -> Iterable[str]:
    lines = [QuotableLine(line) for line in text.split("\n")]
    return (span_text(lines, row, span) for row, span in pieces_of(lines))


CUTS: dict[str, Callable[[str, int], Iterable[str]]] = {
    "clipped": lambda text, size: [clip_middle(text, size)],
    "one line": lambda text, size: [clip_to_line(text, size)],
    "cut after": lambda text, size: [truncate_text(text, size)],
    "shortened": lambda text, size: [shorten(text, size, len, "...")],
    "limited": limited_to,
    "pieces": lambda text, _: pieces(text),
    "quoted": asked,
    "told": told,
}


@tries(60)
@pytest.mark.parametrize("way", CUTS)
@given(text=TEXTS, size=st.integers(1, 900))
def test_nothing_leaves_a_part_of_a_word(way: str, text: str, size: int) -> None:
    known = {*_WORD.findall(text), *_WORD.findall(_MARKS), "x"}
    for found in CUTS[way](text, size):
        words = {word for word in _WORD.findall(found) if not word.isdigit()}
        assert words <= known


@pytest.mark.parametrize(
    ("text", "at", "end", "start"),
    [
        ("one two", 3, 3, 3),
        ("one two", 5, 4, 7),
        ("call read_file(path)", 9, 5, 14),
        ("see https://example.org/a", 9, 4, 12),
        ("it isn't so", 6, 3, 8),
        ('{"a\\nb"}', 4, 3, 6),
        ("e\u0301e\u0301", 1, 0, 2),
        ("ab", 9, 2, 9),
        ("x" * 300, 120, 120, 120),
        # A folder for each of 70 letters: no name is that long.
        ("abc/" * 70, 121, 120, 123),
        ("a-b/" * 70, 122, 120, 123),
    ],
)
def test_a_text_may_be_cut_between_words_and_names(
    text: str, at: int, end: int, start: int
) -> None:
    assert (word_end(text, at), word_start(text, at)) == (end, start)


@pytest.mark.parametrize(
    ("text", "pos", "end", "start"),
    [
        ("see src/app/main.py", 12, 4, 12),
        ("src/app/main.py", 10, 8, 12),
        ("one two", 3, 3, 3),
        ("one two", 4, 4, 4),
        ("one two", 5, 4, 7),
        ("one two", 0, 0, 0),
        ("one two", 7, 7, 7),
        ("one two", 99, 7, 7),
        ("don't", 4, 0, 5),
        ("a https://b", 8, 2, 10),
        (r"a\nb", 2, 1, 4),
        ("a, b", 1, 1, 1),
        ("", 5, 0, 0),
    ],
)
def test_the_nearest_places_to_cut(text: str, pos: int, end: int, start: int) -> None:
    assert word_end(text, pos) == end
    assert word_start(text, min(pos, len(text))) == start


def test_nothing_comes_before_a_text() -> None:
    assert word_start("one", -5) == 0


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("ab", False),
        ("e\u0301", True),
        ("\u200da", True),
        ("a\u200d", True),
        ("a\ufe0f", True),
        ("\r\n", True),
        ("\n\r", False),
        ("\ud83d\ude00", True),
        ("\ude00\ud83d", False),
        ("a\ude00", False),
        ("\ud83da", False),
    ],
)
def test_a_character_may_be_several_code_points(text: str, inside: bool) -> None:  # noqa: FBT001
    assert is_inside_character(text, 1) is inside
    assert not is_inside_character(text, 0)
    assert not is_inside_character(text, 2)
    assert is_inside_character(f"x{text}", 2) is inside


def test_a_word_too_long_to_be_one_is_cut_where_it_must_be() -> None:
    data = "x" * 5_000
    assert (word_end(data, 2_500), word_start(data, 2_500)) == (2_500, 2_500)
