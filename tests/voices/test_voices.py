"""Whatever a format puts the user's words into, they are read as theirs and outlive compactions."""

from collections.abc import Mapping

import pytest
from voices.place import (
    NEWEST,
    OPENING,
    Kind,
    Place,
    all_places,
    at_both_ends,
    lines_of,
    read,
    sentences,
    words_at,
)
from voices.survival import Way, compacted, expected_words, lost_rules, seen, texts, unseen
from voices.tables import PLACES, TALKS, UNTRIED

from compactctl.history.protection import protected_messages
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.stages.registry import ALL_STAGES

# Stages that say what they hide, at each size; those that need a size; all others as they are.
_QUOTING, _SIZED = ("", "distill", "summarize"), ("prioritize", "collapse", "truncate", "shorten")
_SHARES = (0.5, 0.3, 0.1, 0.05)
# It asks for ends that somebody names, and orphans that no talk has.
_LEFT_OUT = ("span", "repair")
_WAYS = (
    *(Way(stage, share) for stage in _QUOTING for share in _SHARES),
    *(Way(stage, 0.2) for stage in _SIZED),
    *(
        Way(stage.name)
        for stage in ALL_STAGES
        if stage.name not in {*_QUOTING, *_SIZED, *_LEFT_OUT}
    ),
)
_ENDS = (
    Way("", 0.1),
    Way("distill", 0.05),
    Way("summarize", 0.1),
    Way("truncate", 0.2),
    Way("window"),
    Way("collapse", 0.2),
    Way("chunk"),
    Way("recursive"),
    Way("partial"),
)
# What is said in a result is a reply, be it an answer or an objection.
_READ_AS: Mapping[Kind, set[str]] = {
    "request": {"request"},
    "instruction": {"instruction"},
    "answer": {"reply"},
    "objection": {"reply"},
    "client": set(),
}
_REQUESTS = [place for place in PLACES if place.kind == "request"]


def test_every_format_has_a_shape() -> None:
    assert not UNTRIED, "tests/voices/tables.py: add a way of talking in each format to TALKS"


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


@pytest.mark.each_choice
@pytest.mark.parametrize("shape", TALKS)
@pytest.mark.parametrize("way", _WAYS, ids=str)
def test_what_is_said_survives(shape: str, way: Way) -> None:
    lines = lines_of(all_places(TALKS[shape](), _places(shape)))
    made = compacted(lines, way, TALKS[shape].shell)
    after = seen(made)
    assert unseen(expected_words(way, _places(shape)), after.effective) == [], (
        f"{way.stage} hides what users said: mend it, or say in _ENDS of tests/voices/survival.py"
        " which of their requests it keeps"
    )
    if way.stage in _QUOTING:
        assert lost_rules(made.transcript, after) == []


@pytest.mark.parametrize("shape", TALKS)
def test_what_is_said_survives_compactions_of_what_was_sent_before(shape: str) -> None:
    lines = lines_of(all_places(TALKS[shape](), _places(shape)))
    for way in (Way("", 0.1), Way("", 0.3), Way("summarize", 0.1)):
        made = compacted(lines, way, TALKS[shape].shell)
        after = seen(made)
        assert unseen(expected_words(way, _places(shape)), after.effective) == [], way
        notes = " ".join(texts(after.effective)).count("without a model")
        assert notes <= 1, way
        lines = [line.data for line in made.lines]


@pytest.mark.each_choice
@pytest.mark.parametrize("shape", TALKS)
@pytest.mark.parametrize("way", _ENDS, ids=str)
def test_the_last_place_of_a_shape_holds_the_newest_request(shape: str, way: Way) -> None:
    _check_ends([place for place in _places(shape) if place.kind == "request"][-1], way)


@pytest.mark.long
@pytest.mark.parametrize("way", _ENDS, ids=str)
@pytest.mark.parametrize("place", _REQUESTS, ids=str)
def test_the_first_and_the_newest_request_survive(place: Place, way: Way) -> None:
    _check_ends(place, way)


def _check_ends(place: Place, way: Way) -> None:
    talk = TALKS[place.shape]
    lines = lines_of(at_both_ends(talk(), place))
    before = read(lines)
    newest = _newest(before)
    assert unseen(sentences(NEWEST), [newest]) == []
    assert protected_messages(before.effective)[newest.id] == (
        newest.locks.immutable_reason or "prompt of the newest turn"
    )
    # Behind a compaction, the client's summary is the first turn.
    first = [] if place.restarts and way.stage in ("truncate", "collapse") else sentences(OPENING)
    wanted = [*sentences(NEWEST), *([] if way.stage == "window" else first)]
    assert unseen(wanted, seen(compacted(lines, way, talk.shell)).effective) == []


def _newest(found: Transcript) -> Message:
    return [message for message in found.effective if message.starts_turn][-1]


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


_AGAIN = (
    ("", "", ""),
    ("distill", "window"),
    ("distill", "summarize", "distill"),
    ("", "partial", "distill"),
    ("", "truncate"),
    ("", "prioritize"),
    ("recursive", "", ""),
    ("chunk", "distill", ""),
    ("summarize", "collapse"),
)
_SHRINKING = {"", "distill", "summarize", "truncate", "collapse", "prioritize"}


@pytest.mark.parametrize("shape", TALKS)
def test_nothing_is_a_request_after_a_compaction_that_was_none_before(shape: str) -> None:
    """Lines of a client that are left must not lose the mark by which they are told."""
    lines = lines_of(all_places(TALKS[shape](), _places(shape)))
    made = compacted(lines, Way("", 0.4), TALKS[shape].shell)
    said = " ".join(text for message in made.transcript.effective for text in _typed(message))
    after = [message for message in seen(made).effective if message.starts_turn]
    asked = [
        text for message in after if not message.origin.is_synthetic for text in _typed(message)
    ]
    assert [text for text in asked if not all(line in said for line in _lines(text))] == []


@pytest.mark.each_choice
@pytest.mark.parametrize("shape", TALKS)
@pytest.mark.parametrize("stages", _AGAIN, ids="-".join)
def test_what_is_said_survives_any_compactions_in_turn(shape: str, stages: tuple[str, ...]) -> None:
    lines = lines_of(all_places(TALKS[shape](), _places(shape)))
    wanted: list[str] | None = None
    for stage, share in zip(stages, (0.4, 0.6, 0.8), strict=False):
        way = Way(stage, share) if stage in _SHRINKING else Way(stage)
        kept = expected_words(way, _places(shape))
        wanted = [words for words in wanted if words in kept] if wanted else kept
        made = compacted(lines, way, TALKS[shape].shell)
        assert unseen(wanted, seen(made).effective) == []
        lines = [line.data for line in made.lines]


def _typed(message: Message) -> list[str]:
    return [text for part in message.parts if (text := message.words(part).strip())]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip(" \u2026")]
