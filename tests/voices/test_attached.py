"""What users attach is part of what they said: after a compaction it is there, or it is named."""

from itertools import pairwise
from pathlib import Path

import pytest
from voices.attached import UNTRIED, WRITERS, Medium, media_for
from voices.place import NEWEST, OPENING, Talk, lines_of, read
from voices.survival import Way, compacted, seen, texts
from voices.tables import TALKS

from compactctl.clients.registry import roles_between_in
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.history.pairs import find_orphans
from compactctl.model.message import MediaPart, Message

_WAYS = (
    *(Way(stage, share) for stage in ("", "distill", "summarize") for share in (0.5, 0.3, 0.15)),
    *(Way(stage, 0.3) for stage in ("recursive", "chunk", "partial", "plain")),
    *(Way(stage) for stage in ("distill", "summarize", "recursive", "chunk", "partial", "plain")),
)


def attached_talk(shape: str) -> Talk:
    """Return a talk in which each request with media is followed by work."""
    talk = TALKS[shape]()
    talk.say(OPENING)
    talk.work(4)
    for words, medium in media_for(shape):
        WRITERS[shape](talk, words, medium)
        talk.work(6)
    talk.say(NEWEST)
    talk.work(12)
    return talk


def is_there(medium: Medium, messages: list[Message]) -> bool:
    """Whether a message still has the medium as it was."""
    sizes = {p.n_bytes for message in messages for p in message.parts if isinstance(p, MediaPart)}
    return len(medium.data) in sizes


def is_named(medium: Medium, messages: list[Message]) -> bool:
    return any(medium.kind in line and medium.size in line for line in lines(messages))


def lines(messages: list[Message]) -> list[str]:
    return [line for text in texts(messages) for line in text.split("\n")]


def test_every_format_has_a_way_to_attach_media() -> None:
    assert not UNTRIED, (
        "tests/voices/attached.py: add how these formats write them to WRITERS, or to "
        "_WITHOUT_MEDIA if they have none"
    )


@pytest.mark.parametrize("shape", WRITERS)
def test_what_is_attached_is_read(shape: str) -> None:
    messages = list(read(lines_of(attached_talk(shape))).effective)
    assert all(is_there(medium, messages) for _, medium in media_for(shape))


@pytest.mark.each_choice
@pytest.mark.parametrize("shape", WRITERS)
@pytest.mark.parametrize("way", _WAYS, ids=str)
def test_what_is_attached_stays_or_is_named(shape: str, way: Way) -> None:
    made = seen(compacted(lines_of(attached_talk(shape)), way, TALKS[shape].shell))
    after = list(made.effective)
    lost = [
        medium.size
        for _, medium in media_for(shape)
        if not (is_there(medium, after) or is_named(medium, after))
    ]
    assert lost == []
    assert not find_orphans(after)
    roles_between = roles_between_in(made.format) or (lambda _first, _second: ())
    assert [pair for pair in pairwise(after) if roles_between(*pair)] == []


@pytest.mark.parametrize("shape", WRITERS)
def test_the_newest_picture_stays_while_there_is_room(shape: str) -> None:
    lines = lines_of(attached_talk(shape))
    made = compacted(lines, Way("distill", 0.5), TALKS[shape].shell)
    assert made.tokens_after < made.tokens_before
    newest = [medium for _, medium in media_for(shape)][-1]
    assert is_there(newest, list(seen(made).effective))


@pytest.mark.each_choice
@pytest.mark.parametrize("shape", WRITERS)
@pytest.mark.parametrize("share", [0.5, 0.15])
def test_every_byte_comes_back(tmp_path: Path, shape: str, share: float) -> None:
    path = tmp_path / "talk.jsonl"
    data = b"".join(lines_of(attached_talk(shape)))
    path.write_bytes(data)
    result = compact(
        CompactOptions(
            input=InputOptions(path=str(path)),
            recipe=Recipe(plan=PlanOptions(keep=share)),
            output=OutputOptions(in_place=True),
        )
    )
    assert result.compacted
    assert path.read_bytes() != data
    rewind(RewindOptions(input=InputOptions(path=str(path)), all=True))
    assert path.read_bytes() == data
