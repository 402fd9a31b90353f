"""Quote the points of an earlier summary by a client under the sections that fit."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from compactctl.history.command_lines import normalize_command
from compactctl.summaries.extract.items import (
    COMMANDS,
    DECISIONS,
    EARLIER,
    ERRORS,
    FINDINGS,
    OLD_PLAN,
    PLAN,
    PROPOSED_PLAN,
    REJECTED_PLAN,
    RULES,
    SummaryItem,
    clip_middle,
)
from compactctl.summaries.extract.passages import Passage, tool_pairs
from compactctl.summaries.extract.tasks import newest_tasks

# Characters quoted of a point.
POINT = 320


class _Topic(NamedTuple):
    """The section of the points under a heading, and their value."""

    section: int
    value: float
    topic: str = ""


# Words in the headings that the summary prompts of Claude Code, NeuroLink, Copilot and Codex ask
# for; the first match wins. What was current or next at that time is history now: section 6.
_TOPICS = {
    "constraint": _Topic(1, 1.0, RULES),
    "user message": _Topic(1, 0.3),
    "intent": _Topic(1, 0.6),
    "request": _Topic(1, 0.6),
    "pending": _Topic(5, 0.6),
    "current": _Topic(6, 0.3),
    "next": _Topic(6, 0.3),
    "decision": _Topic(4, 0.25, DECISIONS),
    "error": _Topic(4, 0.15),
    "problem": _Topic(4, 0.15),
    "file": _Topic(3, 0.12),
    "concept": _Topic(2, 0.06),
}
_OTHER = _Topic(6, 0.12)
_PENDING = 5

# A heading starts with hash marks, or is a short line that ends with a colon or bold mark.
_HEADING = re.compile(
    r"\s*(?:#{1,4}\s+(?P<marked>.*)|(?:\*\*)?(?:\d{1,2}[.)]\s+)?(?P<plain>[A-Z].{2,60}?)"
    r"(?::(?:\*\*)?|\*\*))"
)
_CODE_FENCE = "```"
_MARKUP = re.compile(r"</?[\w-]+>|[-=*_]{3,}")
# Sentences that clients put around a summary.
_WRAPPING = re.compile(
    r"This session is being continued|If you need specific details from before compaction"
    r"|(?:Please c|C)ontinue the conversation from where|Another language model started to solve"
)

# A command as our own summaries list it.
_COMMAND = re.compile(r"`(.*)`(?: -> |:|$)")
# What a point of an earlier summary by compactctl becomes, by its label.
_OWN_TOPICS = {
    ERRORS: _Topic(4, 0.15),
    COMMANDS: _Topic(4, 0.2),
    FINDINGS: _Topic(4, 0.2, DECISIONS),
    PLAN: _Topic(5, 0.3),
    OLD_PLAN: _Topic(5, 0.1),
    PROPOSED_PLAN: _Topic(5, 0.1),
    REJECTED_PLAN: _Topic(5, 0.1),
    EARLIER: _Topic(6, 0.3),
}
_OWN_LABELS = {PLAN: f"{OLD_PLAN}:"} | {
    name: f"{name}:" for name in (OLD_PLAN, PROPOSED_PLAN, REJECTED_PLAN, EARLIER)
}


def earlier_items(passages: Sequence[Passage]) -> Iterator[SummaryItem]:
    """Yield the points of earlier summaries: of the newest by a client, and of compactctl's own.

    A client's stand under the section of their heading; its older summaries are covered by the
    newest. Its pending tasks are history if there is a newer task list.
    """
    yield from _own_items(passages)
    summaries = [passage for passage in passages if passage.kind == "summary"]
    if not summaries:
        return
    newest = max(reversed(summaries), key=lambda passage: passage.is_proven)
    tasks = newest_tasks(passages)
    for position, (topic, point) in enumerate(_points(newest.text)):
        is_history = topic.section == _PENDING and any(
            task.ref.position > newest.ref.position for task in tasks
        )
        yield SummaryItem(
            section=_OTHER.section if is_history else topic.section,
            topic=topic.topic,
            label=f"{EARLIER} {newest.ref}".rstrip() + ":",
            text=clip_middle(point, POINT),
            value=topic.value,
            position=position,
        )


def _own_items(passages: Sequence[Passage]) -> Iterator[SummaryItem]:
    commands = {normalize_command(p.command).text for p in tool_pairs(passages) if p.command}
    for passage in passages:
        if passage.kind == "point" and passage.name in _OWN_TOPICS:
            topic = _OWN_TOPICS[passage.name]
            label = _OWN_LABELS.get(passage.name, passage.name)
            for point in passage.text.split("\n"):
                command = _COMMAND.match(point) if passage.name == COMMANDS else None
                # A newer run says more.
                if command and normalize_command(command[1]).text in commands:
                    continue
                yield SummaryItem(
                    section=topic.section,
                    topic=topic.topic,
                    label=label,
                    text=point,
                    value=topic.value,
                    position=passage.ref.position,
                )


def _points(text: str) -> Iterator[tuple[_Topic, str]]:
    topic, is_code = _OTHER, False
    for line in text.split("\n"):
        point = line.strip().removeprefix("- ").strip()
        if point.startswith(_CODE_FENCE):
            is_code = not is_code
        elif heading := _HEADING.fullmatch(line):
            topic = _topic(heading["marked"] or heading["plain"] or "") or topic
        elif point and not (is_code or _MARKUP.fullmatch(point) or _WRAPPING.match(point)):
            yield topic, point


def _topic(heading: str) -> _Topic | None:
    words = heading.lower()
    return next((topic for word, topic in _TOPICS.items() if word in words), None)
