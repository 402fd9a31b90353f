"""The offline summarizer: a hand-over document of verbatim quotes, made without a model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compactctl.model.message import Message
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.summaries.document.earlier import earlier_items
from compactctl.summaries.document.sections import cost, document
from compactctl.summaries.document.selection import index_items, taken
from compactctl.summaries.document.template_file import template_of
from compactctl.summaries.document.templates import NINE, Template
from compactctl.summaries.extract.decisions import current_items, finding_items, next_items
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.files import file_items
from compactctl.summaries.extract.items import OMISSION, SummaryItem, clipped
from compactctl.summaries.extract.key_lines import key_line_items
from compactctl.summaries.extract.passages import (
    NOWHERE,
    Passage,
    passages,
    spots_of,
    tool_pairs,
)
from compactctl.summaries.extract.shell_commands import command_items, error_items
from compactctl.summaries.extract.tasks import task_items
from compactctl.summaries.extract.user_requests import answer_items, request_items, rule_items
from compactctl.summaries.extract.vocabulary import EntityVocabulary, vocabulary

# Measured on real sessions with prefixes of 20,000 to 200,000 tokens: at 3 to 6 % a summary holds
# most of what is needed again, and a larger one costs more in every later request than it saves.
BUDGET_PERCENT = 6
SMALLEST_BUDGET = 2_000
LARGEST_BUDGET = 8_000
# The measured balance between answering questions about the state of the work and keeping the
# names it needs; identifiers get the rest.
SECTIONS_PERCENT = 50
KEY_LINES_PERCENT = 35
# Pinned items may take this much before anything else is considered.
PINNED_PERCENT = 15

# A first guess at the characters of a token; then the counter's own answers decide.
_CHARS_PER_TOKEN = 3
_ATTEMPTS = 6
_CLOSE_ENOUGH_PERCENT = 96
# Aimed at, so that the next attempt does not miss again by a few tokens.
_AIM_PERCENT = 98
# Characters that must be left for content, else nine headings are not worth their place.
_SMALLEST_ROOM = 600
# Characters of the last request that are tried where there is no room for sections.
_LAST_REQUEST = (600, 300, 120)


def summary_budget(prefix_tokens: int) -> int:
    """Return the tokens a summary of a prefix of that many tokens should have."""
    return max(SMALLEST_BUDGET, min(prefix_tokens * BUDGET_PERCENT // 100, LARGEST_BUDGET))


def write(request: SummaryRequest, count: Callable[[str], int]) -> Summary:
    """Write the summary that ``request`` asks for; the text is "" when the budget holds none.

    What was summarized earlier is quoted from the messages; instructions are for models.
    Raises UsageError for a template that there is none of.
    """
    text = summarize(
        request.messages,
        budget=request.budget,
        count=count,
        cwd=request.cwd,
        template=template_of(request.template, request.template_text),
    )
    return Summary(text=text)


def summarize(
    messages: Sequence[Message],
    *,
    budget: int,
    count: Callable[[str], int],
    cwd: str | None = None,
    template: Template = NINE,
) -> str:
    """Write a hand-over document of at most ``budget`` tokens as ``count`` measures them.

    Everything in it is quoted from the messages or counted; the same messages give the same text.
    Below about 350 tokens there is no room for sections: then it says so and quotes the last
    request; "" is returned when not even that fits.
    """
    material = _Material.of(messages, cwd, template)
    room, best = budget * _CHARS_PER_TOKEN, ""
    for _ in range(_ATTEMPTS):
        if room < len(material.empty) + _SMALLEST_ROOM:
            break
        text, complete = material.draft(room)
        size = max(1, count(text))
        if size <= budget:
            best = max(best, text, key=len)
            if complete or size * 100 >= budget * _CLOSE_ENOUGH_PERCENT:
                break
        room = room * budget * _AIM_PERCENT // (size * 100)
    return best or _shortest(material, budget, count)


@dataclass(frozen=True, slots=True)
class _Material:
    """All that a summary can be made from."""

    note: str
    passages: tuple[Passage, ...]
    items: tuple[SummaryItem, ...]
    words: EntityVocabulary
    lexicon: Lexicon
    template: Template

    @classmethod
    def of(cls, messages: Sequence[Message], cwd: str | None, template: Template) -> "_Material":
        """Gather items, key lines and entities from messages."""
        found = passages(messages, cwd)
        lexicon = Lexicon(cwd)
        items = tuple(_items(found, lexicon, cwd))
        words = vocabulary(found, lexicon)
        return cls(_note(messages), found, items, words, lexicon, template)

    @property
    def empty(self) -> str:
        """The document without any items."""
        return document(self.note, (), self.template)

    def draft(self, room: int) -> tuple[str, bool]:
        """Write a document of about ``room`` characters; also say whether it lacks nothing."""
        room -= len(self.empty)
        chosen = taken(
            self.items,
            room=room * SECTIONS_PERCENT // 100,
            pinned_room=room * PINNED_PERCENT // 100,
        )
        complete = set(self.items) <= set(chosen)
        covered = set(self.lexicon.entities("\n".join(item.text for item in chosen)))
        lines_room = room * (SECTIONS_PERCENT + KEY_LINES_PERCENT) // 100 - _size(chosen)
        chosen += key_line_items(self.words, self.passages, lines_room, covered)
        missing = self.words.missing(covered)
        chosen += index_items(missing, self.lexicon, room - _size(chosen))
        return document(self.note, chosen, self.template), complete and not missing


def _items(found: Sequence[Passage], lexicon: Lexicon, cwd: str | None) -> Iterator[SummaryItem]:
    pairs = tool_pairs(found)
    yield from request_items(found)
    yield from rule_items(found)
    yield from answer_items(pairs)
    yield from file_items(found, cwd)
    yield from error_items(pairs)
    yield from finding_items(found, lexicon)
    yield from command_items(pairs)
    yield from task_items(pairs)
    yield from earlier_items(found)
    yield from current_items(found, pairs)
    yield from next_items(found)


def _size(items: Sequence[SummaryItem]) -> int:
    return sum(cost(item) for item in items)


def _note(messages: Sequence[Message]) -> str:
    spots = spots_of(messages) or [NOWHERE]
    first, last = min(spots), max(spots)
    span = f" ({first.unit}{first.number} to {last.unit}{last.number})" if messages else ""
    return (
        f"Hand-over of {len(messages)} earlier messages{span}, extracted without a model: "
        f"quotes are verbatim,{OMISSION}marks omissions, {first.legend}"
    )


def _shortest(material: _Material, budget: int, count: Callable[[str], int]) -> str:
    """Say that a summary did not fit, with the last request where that fits."""
    plain = f"Earlier messages were condensed; {budget} tokens hold no summary of them."
    requests = [passage.text for passage in material.passages if passage.kind == "request"]
    texts = [f"{plain} Last request: {clipped(requests[-1], n)}" for n in _LAST_REQUEST if requests]
    return next((text for text in (*texts, plain) if count(text) <= budget), "")
