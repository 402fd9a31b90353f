"""Compacts a talk and tells which of its words the model does not see any more."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from formats.jsonl import decoded
from voices.place import NEWEST, OPENING, Place, sentences, words_at

from compactctl.audit.audit import AuditInput, audit
from compactctl.clients.registry import format_named
from compactctl.commands.compact.in_memory import CompactedLines, compact_lines
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.message import FilePart, Message, TextPart, ToolResultPart
from compactctl.model.operation import OptionValue
from compactctl.model.own_texts import WORDS
from compactctl.model.transcript import Transcript

# Of the stages that do not quote what was said, these hide some of it, but keep these requests.
_ENDS: Mapping[str, tuple[str, ...]] = {
    "truncate": (OPENING, NEWEST),
    "collapse": (OPENING, NEWEST),
    "window": (NEWEST,),
    "prioritize": (NEWEST,),
}
_SETTINGS: Mapping[str, Mapping[str, OptionValue]] = {
    "prune": {"min_savings": 1, "protect_tokens": 400},
    "limit": {"max_tokens": 20},
    "shorten": {"min_tokens": 60},
}


@dataclass(frozen=True)
class Way:
    """Stages, none for those of the default, and the share of the tokens to keep."""

    stage: str = ""
    keep: float | None = None

    def __str__(self) -> str:
        share = "" if self.keep is None else f"-{self.keep:.0%}"
        return f"{self.stage or 'default'}{share}"


def compacted(lines: list[bytes], way: Way, shell: str) -> CompactedLines:
    stages = (way.stage,) if way.stage else ()
    settings = {**_SETTINGS, "drop": {"tools": (shell,)}}
    plan = PlanOptions(stages=stages, keep=way.keep, settings=settings)
    return compact_lines(lines, InputOptions(path="talk"), Recipe(plan=plan))


def seen(made: CompactedLines) -> Transcript:
    """Return what is read of the lines that are left."""
    parsed = decoded([line.data for line in made.lines])
    return format_named(made.transcript.format).read(parsed)


def unseen(expected: Sequence[str], messages: Sequence[Message]) -> list[str]:
    """Return the sentences that no message has, word for word; blanks may differ."""
    text = " ".join(" ".join(texts(messages)).split())
    return [sentence for sentence in expected if sentence not in text]


def expected_words(way: Way, places: Sequence[Place]) -> list[str]:
    """Return what must be there of a talk with all places: what is promised of the stage."""
    ends = _ENDS.get(way.stage)
    if ends is not None:
        return [*ends]
    return [OPENING, NEWEST, *_said(places)]


def lost_rules(before: Transcript, after: Transcript) -> list[str]:
    """Return the rules that an audit finds before and not after."""
    compaction = AuditInput(
        before=before.effective,
        after=after.effective,
        summary="",
        source=(),
        cwd=before.session.cwd,
    )
    return [loss.text for loss in audit(compaction, len).lost if loss.kind == "rule"]


def _said(places: Sequence[Place]) -> Iterator[str]:
    for place, text in words_at(places):
        yield from [] if place.kind == "client" else sentences(text)


def unmarked(messages: Sequence[Message]) -> str:
    """Return the texts of messages without the marks of lines that somebody said."""
    lines = (line for text in texts(messages) for line in text.split("\n"))
    return "\n".join("" if x == WORDS.rstrip() else x.removeprefix(WORDS) for x in lines)


def texts(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the texts of messages."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, TextPart | ToolResultPart | FilePart):
                yield part.text
