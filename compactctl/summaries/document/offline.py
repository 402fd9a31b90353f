"""The offline summarizer: a hand-over document of verbatim quotes, made without a model."""

from collections.abc import Callable, Iterator, Sequence

from compactctl.model.message import Message
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.summaries.document.draft import (
    SummaryDraft,
    SummaryMaterial,
    fragments_of,
    selection_of,
)
from compactctl.summaries.document.earlier import earlier_items
from compactctl.summaries.document.requests import elsewhere_items, opening_items, pinned_items
from compactctl.summaries.document.sections import document
from compactctl.summaries.document.template_file import template_of
from compactctl.summaries.extract.current_work import current_items, next_items
from compactctl.summaries.extract.decisions import finding_items
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.files import file_items
from compactctl.summaries.extract.items import OMISSION, SummaryItem, clipped
from compactctl.summaries.extract.passages import (
    NOWHERE,
    Passage,
    passages,
    spots_of,
    tool_pairs,
)
from compactctl.summaries.extract.plans import plan_items
from compactctl.summaries.extract.shell_commands import command_items, error_items
from compactctl.summaries.extract.tasks import newest_tasks, task_items
from compactctl.summaries.extract.user_requests import (
    answer_items,
    between_items,
    requests,
    rule_items,
)
from compactctl.summaries.extract.uses import EntityDemand

# Measured on real sessions with prefixes of 20,000 to 200,000 tokens: at 3 to 6 % a summary holds
# most of what is needed again, and a larger one costs more in every later request than it saves.
BUDGET_PERCENT = 6
SMALLEST_BUDGET = 2_000
LARGEST_BUDGET = 8_000
SHORTEST_USEFUL = 600
"""Tokens that sections take in which most is told in a word."""
# Tokens that must be left for content, else nine headings are not worth their place.
_SMALLEST_ROOM = 200
# Characters of the last request that are tried where there is no room for sections.
_LAST_REQUEST = (600, 300, 120)


def summary_budget(prefix_tokens: int) -> int:
    """Return the tokens a summary of a prefix of that many tokens should have."""
    return max(SMALLEST_BUDGET, min(prefix_tokens * BUDGET_PERCENT // 100, LARGEST_BUDGET))


def write(request: SummaryRequest, count: Callable[[str], int]) -> Summary:
    """Write a hand-over document of at most ``budget`` tokens as ``count`` measures them.

    Everything in it is quoted from the messages or counted; the same messages give the same text.
    What was summarized earlier is quoted too; instructions are for models. Below about 350 tokens
    there is no room for sections: then it says so and quotes the last request; the text is "" when
    not even that fits. Raises UsageError for an unknown template.
    """
    template = template_of(request.template, request.template_text)
    found = passages(request.messages, request.cwd)
    note = _note(request.messages)
    room = request.budget - count(document(note, (), template))
    text = ""
    if room >= _SMALLEST_ROOM:
        material, pinned = _material(request, found, room, count)
        selection = selection_of(material, request.budget, count)
        draft = SummaryDraft(
            note=note, template=template, pinned=pinned, material=material, selection=selection
        )
        selection.grow(lambda: request.budget - count(draft.text()))
        text = draft.text()
    is_fitting = text and count(text) <= request.budget
    return Summary(text=text if is_fitting else _shortest(found, request.budget, count))


def _material(
    request: SummaryRequest, found: Sequence[Passage], room: int, count: Callable[[str], int]
) -> tuple[SummaryMaterial, tuple[SummaryItem, ...]]:
    """Return what there is to choose from, and what stands there in any case."""
    demand = EntityDemand.of(found, Lexicon(request.cwd))
    asked = pinned_items(found, room, count)
    # A request that is quoted needs no rules beside it.
    shown = {item.text.partition("] ")[2] for item in asked}
    items = [*rule_items(found, shown), *_items(request, found, demand)]
    pinned = (
        *asked,
        *elsewhere_items(request.messages, request.following),
        *opening_items(items, room, count),
    )
    said = (*(item.text for item in pinned), *_texts(request.following))
    there = {(item.section, item.label, item.place) for item in pinned}
    left = (item for item in items if (item.section, item.label, item.place) not in there)
    rest = fragments_of((item for item in left if item.text not in said), demand)
    return SummaryMaterial(found=found, items=rest, said=said, demand=demand), pinned


def _items(
    request: SummaryRequest, found: Sequence[Passage], demand: EntityDemand
) -> Iterator[SummaryItem]:
    pairs = tool_pairs(found)
    yield from between_items(found)
    yield from answer_items(pairs)
    yield from file_items(found, request.cwd)
    yield from error_items(pairs)
    yield from finding_items(found, demand.lexicon)
    yield from command_items(pairs)
    if not newest_tasks(tool_pairs(passages(request.following))):
        yield from plan_items(found)
        yield from task_items(pairs)
    yield from earlier_items(found)
    yield from current_items(found, pairs)
    answered = any(message.role == "assistant" for message in request.following)
    yield from next_items(found, is_answered=answered)


def _texts(messages: Sequence[Message]) -> list[str]:
    return [passage.text for passage in passages(messages) if passage.kind != "thought"]


def _note(messages: Sequence[Message]) -> str:
    spots = spots_of(messages) or [NOWHERE]
    first, last = min(spots), max(spots)
    span = f" ({first.unit}{first.number} to {last.unit}{last.number})" if messages else ""
    return (
        f"Hand-over of {len(messages)} earlier messages{span}, extracted without a model: "
        f"quotes are verbatim,{OMISSION}marks omissions, {first.legend}"
    )


def _shortest(found: Sequence[Passage], budget: int, count: Callable[[str], int]) -> str:
    """Say that a summary did not fit, with the last request where that fits."""
    plain = f"Earlier messages were condensed; {budget} tokens hold no summary of them."
    asked = [text for _, text in requests(found)]
    texts = [f"{plain} Last request: {clipped(asked[-1], n)}" for n in _LAST_REQUEST if asked]
    return next((text for text in (*texts, plain) if count(text) <= budget), "")
