import pytest

from compactctl.summaries.extract.sentences import sentences, unwrap

EMPTY = """- Where a value is missing, always write an empty
  string rather than leaving out the whole field.
- Never log bodies."""
CHUNKS = """The parts may come whole (in one piece
or chunked) and it must not matter which of both they do; never buffer all."""
LIST = """always use tabs
never push
ask before"""
KEYS = """on-create: warn when a section of the template is missing
on-close: none of the sections is looked at any more, ever"""
LOWER = """The first sentence of this paragraph ends right here.
and the second begins in lower case, as some people write"""
HEADING = """# A heading that is long enough to be wrapped
Text"""
PARAGRAPHS = """One paragraph of this text is long enough

to be wrapped"""


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        (EMPTY, ["an empty string rather", "Never log"]),
        (CHUNKS, ["(in one piece or chunked) and it"]),
    ],
)
def test_a_sentence_that_was_wrapped_is_whole(text: str, joined: list[str]) -> None:
    found = sentences(text)
    assert len(found) == len(joined)
    assert all(part in sentence for part, sentence in zip(joined, found, strict=True))


@pytest.mark.parametrize("text", [LIST, KEYS, LOWER, HEADING, PARAGRAPHS, ""])
def test_lines_that_end_where_their_sentence_does_stay_apart(text: str) -> None:
    assert sentences(text) == [line.removeprefix("# ") for line in text.split("\n") if line]


LONG = "This line is as wide as the text gets and it goes on"


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (LONG, "without an end.", True),
        (f"{LONG}.", "Without an end.", False),
        (f"{LONG}:", "without an end.", False),
        (LONG, "- without an end.", False),
        (LONG, "1. without an end.", False),
        (LONG, "note: an end.", False),
        (LONG, "```", False),
        (f"# {LONG}", "without an end.", False),
        ("", LONG, False),
        # The first word of the next line would have fitted.
        ("This line is short", LONG, False),
        ("This line (is short", LONG, True),
        ("x" * 39, "y", False),
        ("x" * 40, "y", True),
        ("x" * 200, "y", True),
        ("x" * 201, "y", False),
        # Four fifths of the width, and one more.
        ("x" * 78, f"{'y' * 1} {'z' * 98}", False),
        ("x" * 79, f"{'y' * 1} {'z' * 98}", True),
    ],
)
def test_a_line_continues_the_one_before_that_had_no_room(
    first: str,
    second: str,
    joined: bool,  # noqa: FBT001
) -> None:
    text = f"{first}\n{second}"
    assert unwrap(text) == (f"{first} {second}" if joined else text)


def test_paragraphs_are_joined_one_by_one() -> None:
    assert unwrap(f"{LONG}\nand on\n\n{LONG}") == f"{LONG} and on\n\n{LONG}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three? four", ["One.", "Two!", "Three?", "four"]),
        ("One. two", ["One. two"]),
        ("One. `two`", ["One.", "`two`"]),
        ("- One\n* Two\n3) Three\n> # Four |", ["One", "Two", "Three", "Four"]),
        ("\n\n", []),
    ],
)
def test_a_text_is_split_into_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found
