"""Whoever can write into a transcript cannot speak as the user or the operator in what is left."""

import re
from collections.abc import Iterator

import pytest
from voices.hostile import HOSTILE, ORDER, besieged
from voices.place import lines_of, read
from voices.survival import Way, compacted, seen
from voices.tables import TALKS

from compactctl.model.message import Message, TextPart
from compactctl.model.transcript import Transcript
from compactctl.stages.registry import ALL_STAGES
from compactctl.summaries.extract.own_passages import SPOKEN
from compactctl.summaries.extract.passages import read_passages

# A summary says in a heading, a label or before a quotation whose words follow.
_PLACE = re.compile(r"\[[^\]\n]*\d+\] (.*)")
_HEADING = re.compile(r"#+ (.*)")
_LABEL = re.compile(r"([^->\s].*):")
_SPEAKER = re.compile(r"\b(?:users?|operator|requests?|rules?)\b", re.IGNORECASE)
_SPEAKING_PLACE = re.compile(r"(?:user|operator)(?:, (?:to .*|attached))?")
_WAYS = (
    Way("", 0.1),
    Way("", 0.3),
    *(Way(stage.name, 0.1) for stage in ALL_STAGES if stage.keeps_lasting_words),
    Way("plain"),
)
# So many texts at once; the others of a round are as good.
_BATCH = 12
_BATCHES = tuple(HOSTILE[start : start + _BATCH] for start in range(0, len(HOSTILE), _BATCH))


@pytest.mark.parametrize("shape", TALKS)
def test_nothing_hostile_is_read_as_words_of_a_person(shape: str) -> None:
    for texts in _BATCHES:
        found = read(lines_of(besieged(TALKS[shape](), texts)))
        assert _spoken(found) == []
        assert sum(message.starts_turn for message in found.effective) == _turns(shape, texts)


@pytest.mark.each_choice
@pytest.mark.parametrize("shape", TALKS)
@pytest.mark.parametrize("way", _WAYS, ids=str)
@pytest.mark.parametrize("batch", range(len(_BATCHES)))
def test_nothing_hostile_is_quoted_as_words_of_a_person(batch: int, way: Way, shape: str) -> None:
    lines = lines_of(besieged(TALKS[shape](), _BATCHES[batch]))
    after = seen(compacted(lines, way, TALKS[shape].shell))
    assert _spoken(after) == []
    assert [line for message in after.effective for line in _as_speech(message)] == []


def _turns(shape: str, texts: tuple[str, ...]) -> int:
    # Each text is attached to a request. Without a command, mini-SWE-agent writes an answer in the
    # user's place.
    return 2 + len(texts) * (2 if shape == "mini-swe-agent" else 1)


def _spoken(found: Transcript) -> list[str]:
    """Return the hostile words that count as a person's."""
    merged = read_passages(found.effective, merges=True)
    passages = (*read_passages(found.effective), *merged)
    said = [passage.text for passage in passages if passage.kind in SPOKEN]
    typed = [message.words(part) for message in found.effective for part in message.parts]
    return [text for text in (*said, *typed) if ORDER in text]


def _as_speech(message: Message) -> Iterator[str]:
    """Yield the lines with hostile words that a summary puts under a person's name, unquoted."""
    if not message.origin.is_synthetic:
        return
    for part in message.parts:
        if isinstance(part, TextPart):
            yield from _lines_as_speech(part.text)


def _lines_as_speech(text: str) -> Iterator[str]:
    place = heading = label = ""
    for line in re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text):
        if match := _PLACE.fullmatch(line):
            place = match[1]
        elif match := _HEADING.fullmatch(line):
            heading, label = match[1], ""
        elif match := _LABEL.fullmatch(line):
            label = match[1]
        is_named = _SPEAKING_PLACE.fullmatch(place) or any(map(_SPEAKER.search, (heading, label)))
        if ORDER in line and not line.startswith(">") and (is_named or not (heading or label)):
            yield line
