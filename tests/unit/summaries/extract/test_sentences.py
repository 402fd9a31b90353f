import pytest

from compactctl.summaries.extract.sentences import sentences

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
