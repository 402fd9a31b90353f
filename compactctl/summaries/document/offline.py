"""The offline summarizer: a hand-over document of verbatim quotes, made without a model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from compactctl.model.message import Message
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.summaries.document.draft import (
    SummaryDraft,
    SummaryMaterial,
    fragments_of,
    item_lines,
    select_content,
    write_document,
)
from compactctl.summaries.document.earlier_summary import earlier_items
from compactctl.summaries.document.templates import resolve_template
from compactctl.summaries.extract.current_work import current_items, next_items
from compactctl.summaries.extract.decisions import finding_items
from compactctl.summaries.extract.entities import EntityDemand, Lexicon
from compactctl.summaries.extract.files import file_items
from compactctl.summaries.extract.items import DECISIONS, OMISSION, SummaryItem, clip_middle
from compactctl.summaries.extract.outcomes import command_items, error_items
from compactctl.summaries.extract.passages import (
    NO_REF,
    Passage,
    read_passages,
    source_refs,
    tool_pairs,
)
from compactctl.summaries.extract.tasks import newest_tasks, plan_items, task_items
from compactctl.summaries.extract.user_requests import (
    budget_with,
    find_lasting_words,
    lasting_items,
    middle_request_items,
)

# Of the room for a summary, what the best point of a section, or of a topic in it, may take.
_CURRENT_WORK = (7, "")
_OPENED = {
    _CURRENT_WORK: 0.08,
    (8, ""): 0.02,
    (5, ""): 0.02,
    (4, ""): 0.02,
    (4, DECISIONS): 0.02,
    (3, ""): 0.02,
    (9, ""): 0.02,
    (6, ""): 0.02,
}
# Characters of a reply that are always there, and tokens of a bullet with its reference.
_SHORTEST = 160
_BULLET_TOKENS = 6


def best_items(
    items: Iterable[SummaryItem], room: int, count: Callable[[str], int]
) -> Iterator[SummaryItem]:
    """Yield the best point of each section that fits in its share of ``room``.

    So no section looks empty that has something to say. The newest reply is shortened to fit.
    """
    best: dict[tuple[int, str], SummaryItem] = {}
    for item in sorted(items, key=lambda item: (-item.value, item.position)):
        best.setdefault((item.section, item.topic), item)
    for section, share in _OPENED.items():
        if section in best:
            text, limit = best[section].text, int(room * share)
            text = _quoted(text, limit, count) if section == _CURRENT_WORK else text
            if count(text) <= limit:
                yield replace(best[section], text=text)


def kept_request_items(
    messages: Sequence[Message], following: Sequence[Message]
) -> Iterator[SummaryItem]:
    """Say where the request stands if it is not among the messages but follows them."""
    everything = (*messages, *following)
    spots = zip(everything, source_refs(everything), strict=True)
    asked = [spot for message, spot in spots if message.starts_turn]
    if asked and not any(message.starts_turn for message in messages):
        text = f"The request is kept as it is: {asked[0]}."
        yield SummaryItem(section=1, text=text, value=0.0, position=asked[0].number)


def _quoted(text: str, limit: int, count: Callable[[str], int]) -> str:
    tokens = count(text) + _BULLET_TOKENS
    return (
        text if tokens <= limit else clip_middle(text, max(_SHORTEST, len(text) * limit // tokens))
    )


# Measured on real sessions with prefixes of 20,000 to 200,000 tokens: at 3 to 6 % a summary holds
# most of what is needed again, and a larger one costs more in every later request than it saves.
BUDGET_PERCENT = 6
MIN_BUDGET = 2_000
MAX_BUDGET = 8_000
# Tokens that must be left for content, else nine headings are not worth their place.
_MIN_ROOM = 200
# The best points of the sections take so small a part of the room beside people's words that they
# may be weighed by this many times that room.
_OPENING_PART = 4


def summary_budget(prefix_tokens: int) -> int:
    """Return the tokens a summary of a prefix of that many tokens should have."""
    return max(MIN_BUDGET, min(prefix_tokens * BUDGET_PERCENT // 100, MAX_BUDGET))


def write_offline_summary(request: SummaryRequest, count: Callable[[str], int]) -> Summary:
    """Write a hand-over document of at most ``budget`` tokens as ``count`` measures them.

    Everything in it is quoted from the messages or counted; the same messages give the same text.
    The words of people that last are always in it, so that it takes more where they do. What was
    summarized earlier is quoted too; instructions are for models. Below about 350 tokens beside
    these words there is no room for sections: then it says so; the text is "" when there are no
    such words and not even that fits. Raises UsageError for an unknown template.
    """
    template = resolve_template(request.template, request.template_text)
    found = read_passages(request.messages, request.cwd)
    following = read_passages(request.following, request.cwd)
    lasting = find_lasting_words(found, following, continues=request.continues)
    words = tuple(lasting_items(found, lasting))
    note = _note(request.messages)
    room = request.budget - count(write_document(note, (), template))
    least = count(write_document(note, words, template))
    word_tokens = sum(map(count, lasting.texts.values()))
    budget = budget_with(request.budget, word_tokens, least)
    if room < _MIN_ROOM or budget < least:
        return Summary(text=_shortest(words, request.budget, count))
    demand = EntityDemand.of(found, Lexicon(request.cwd))
    items = [*middle_request_items(found, lasting), *_items(request, found, following, demand)]
    pinned = (
        *words,
        *kept_request_items(request.messages, request.following),
        *best_items(items, min(room, _OPENING_PART * (budget - least)), count),
    )
    said = (
        *lasting.texts.values(),
        *(item.text for item in pinned if item not in words),
        *_texts(following),
    )
    rest = fragments_of(_rest(items, pinned, said), demand)
    material = SummaryMaterial(passages=found, items=rest, covered=said, demand=demand)
    selection = select_content(material, budget, count)
    draft = SummaryDraft(
        note=note, template=template, pinned=pinned, material=material, selection=selection
    )
    selection.grow(lambda: budget - count(draft.text()))
    text = draft.text()
    return Summary(text=text if count(text) <= budget else write_document(note, words, template))


def _items(
    request: SummaryRequest,
    found: Sequence[Passage],
    following: Sequence[Passage],
    demand: EntityDemand,
) -> Iterator[SummaryItem]:
    pairs = tool_pairs(found)
    yield from file_items(found, request.cwd)
    yield from error_items(pairs)
    yield from finding_items(found, demand.lexicon)
    yield from command_items(pairs)
    if not newest_tasks(tool_pairs(following)):
        yield from plan_items(found)
        yield from task_items(pairs)
    yield from earlier_items(found)
    yield from current_items(found, pairs)
    answered = any(message.role == "assistant" for message in request.following)
    yield from next_items(found, is_answered=answered)


def _rest(
    items: Iterable[SummaryItem], pinned: Iterable[SummaryItem], said: Sequence[str]
) -> Iterator[SummaryItem]:
    """Yield the items that are neither pinned nor said elsewhere."""
    places = {(item.section, item.label, item.position) for item in pinned}
    for item in items:
        if (item.section, item.label, item.position) not in places and item.text not in said:
            yield item


def _texts(found: Sequence[Passage]) -> list[str]:
    return [passage.text for passage in found if passage.kind != "thought"]


def _note(messages: Sequence[Message]) -> str:
    spots = source_refs(messages) or [NO_REF]
    first, last = min(spots), max(spots)
    span = f" ({first.unit}{first.number} to {last.unit}{last.number})" if messages else ""
    return (
        f"Hand-over of {len(messages)} earlier messages{span}, extracted without a model: "
        f"quotes are verbatim,{OMISSION}marks omissions, {first.legend}"
    )


def _shortest(words: Sequence[SummaryItem], budget: int, count: Callable[[str], int]) -> str:
    """Say that a summary did not fit, with the words of people."""
    plain = f"Earlier messages were condensed; {budget} tokens hold no summary of them."
    if words:
        return "\n".join((plain, *item_lines(words)))
    return plain if count(plain) <= budget else ""
