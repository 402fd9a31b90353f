"""Whatever a format puts the user's words into, they are read as theirs."""

from collections.abc import Mapping

import pytest
from voices.place import Kind, Place, all_places, lines_of, read, sentences, words_at
from voices.tables import PLACES, TALKS

from compactctl.model.message import Message

# What is said in a result is a reply, be it an answer or an objection.
_READ_AS: Mapping[Kind, set[str]] = {
    "request": {"request"},
    "instruction": {"instruction"},
    "answer": {"reply"},
    "objection": {"reply"},
    "client": set(),
}


@pytest.mark.parametrize("shape", TALKS)
def test_every_place_is_read_as_what_it_is(shape: str) -> None:
    found = read(lines_of(all_places(TALKS[shape](), _places(shape))))
    assert found.format == shape.split(maxsplit=1)[0]
    told = [(part, kind) for message in found.effective for part, kind in _told(message)]
    wrong = [
        (place.name, sentence, kinds)
        for place, text in words_at(_places(shape))
        for sentence in sentences(text)
        if (kinds := {kind for words, kind in told if sentence in words}) != _READ_AS[place.kind]
    ]
    assert wrong == []
    starts = sum(message.starts_turn for message in found.effective)
    assert starts == 2 + sum(place.starts_turn for place, _ in words_at(_places(shape)))


def _told(message: Message) -> list[tuple[str, str]]:
    """Return what people say in a message, each with the kind of place that it is told as."""
    return [
        (words, "reply" if part in message.results else _kind(message))
        for part in message.parts
        if (words := message.words(part))
    ]


def _kind(message: Message) -> str:
    return "request" if message.starts_turn else "instruction"


def _places(shape: str) -> list[Place]:
    return [place for place in PLACES if place.shape == shape]
