"""The offline summarizer: a hand-over document of verbatim quotes, made without a model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from compactctl.history.references import refs_of
from compactctl.history.stand_ins import is_stand_in, message_count
from compactctl.model.own_texts import (
    ANSWERS,
    INSTRUCTIONS,
    REQUESTS,
    SET_RULES,
    HandOver,
    HandOverSection,
    reported,
)
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.records import replace
from compactctl.summaries.document.draft import (
    SummaryDraft,
    SummaryMaterial,
    document_items,
    fill_document,
    fragments_of,
    select_content,
)
from compactctl.summaries.document.earlier_summary import earlier_items
from compactctl.summaries.document.templates import resolve_template
from compactctl.summaries.extract.current_work import current_items, next_items
from compactctl.summaries.extract.decisions import finding_items
from compactctl.summaries.extract.entities import EntityDemand, shared_lexicon
from compactctl.summaries.extract.files import file_items
from compactctl.summaries.extract.items import (
    DECISIONS,
    RULES,
    SummaryItem,
    clip_middle,
)
from compactctl.summaries.extract.outcomes import command_items, error_items
from compactctl.summaries.extract.own_passages import PassageKind
from compactctl.summaries.extract.passages import (
    Passage,
    read_passages,
    tool_pairs,
)
from compactctl.summaries.extract.plans import plan_items
from compactctl.summaries.extract.tasks import sets_tasks, task_items
from compactctl.summaries.extract.user_words import CUT, UserWords, budget_with, choose_words

# The section, topic and label of the words of the user and the operator.
_HEADINGS: Mapping[PassageKind, tuple[int, str, str]] = {
    "request": (1, "", REQUESTS),
    "answer": (6, "", ANSWERS),
    "instruction": (1, RULES, INSTRUCTIONS),
}
_RULES_HEADING = (1, RULES, SET_RULES)
_CURRENT_WORK = (7, "")
# Share of the room that the best item of a section, or of a topic in it, may take.
_SHARES = {
    _CURRENT_WORK: 0.08,
    (8, ""): 0.02,
    (5, ""): 0.02,
    (4, ""): 0.02,
    (4, DECISIONS): 0.02,
    (3, ""): 0.02,
    (9, ""): 0.02,
    (6, ""): 0.02,
}
# Characters to which a reply is shortened at most, and tokens of a bullet with its reference.
_MIN_REPLY = 160
_BULLET_TOKENS = 6
# Tokens that must remain for content, else nine headings do not pay.
_MIN_ROOM = 200
# The best items may take their shares of up to this many times the room beside the user's words.
# Their shares are small, so that they still fit.
_BEST_ITEMS_SCALE = 4


def best_items(
    items: Iterable[SummaryItem], room: int, count: Callable[[str], int]
) -> dict[SummaryItem, SummaryItem]:
    """Return the best item of each section that fits in its share of ``room`` tokens, as it fits.

    They are pinned, so that no section with content looks empty. The newest reply is shortened to
    fit; the key is the item as it was.
    """
    best: dict[tuple[int, str], SummaryItem] = {}
    for item in sorted(items, key=lambda item: (-item.value, item.position)):
        best.setdefault((item.section, item.topic), item)
    fitting: dict[SummaryItem, SummaryItem] = {}
    for section, share in _SHARES.items():
        if section in best:
            text, limit = best[section].text, int(room * share)
            text = _quoted(text, limit, count) if section == _CURRENT_WORK else text
            if count(text) <= limit:
                fitting[best[section]] = replace(best[section], text=text)
    return fitting


def word_items(passages: Sequence[Passage], words: UserWords) -> Iterator[SummaryItem]:
    """Yield the words of the user and the operator as items, which are never omitted.

    Between two items under a label, at most one stands for requests or answers left out.
    """
    marks = {run[0]: CUT for run in words.omitted}
    newest: dict[str, str] = {}
    for index, text in sorted({**words.texts, **marks}.items()):
        is_request = passages[index].kind == "request"
        heading = _HEADINGS[passages[index].kind]
        section, topic, label = (
            _RULES_HEADING if is_request and index in words.rules_only else heading
        )
        label = label if passages[index].is_proven else reported(label)
        if text == newest.get(label) == CUT:
            continue
        newest[label] = text
        yield SummaryItem(
            section=section,
            topic=topic,
            label=label,
            ref=passages[index].ref.name,
            text=text,
            value=0.0,
            position=index,
        )


def kept_request_items(
    passages: Sequence[Passage], following: Sequence[Passage]
) -> Iterator[SummaryItem]:
    """Say that the request is not among the passages but follows them, if so."""
    asks_before, asks_later = (
        any(passage.kind == "request" for passage in side) for side in (passages, following)
    )
    if asks_later and not asks_before:
        yield SummaryItem(section=1, text="The request is kept as it is.", value=0.0, position=0)


def _quoted(text: str, limit: int, count: Callable[[str], int]) -> str:
    tokens = count(text) + _BULLET_TOKENS
    if tokens <= limit:
        return text
    return clip_middle(text, max(_MIN_REPLY, len(text) * limit // tokens))


def write_offline_summary(request: SummaryRequest, count: Callable[[str], int]) -> Summary:
    """Return a hand-over document of at most ``budget`` tokens, as ``count`` measures them.

    Everything in it is quoted from the messages or counted. It always holds what ``choose_words``
    returns, and is larger than the budget if that is. Earlier summaries are quoted, too;
    instructions are ignored. Below about 350 tokens beside those words it has no sections and says
    so, with what fits of an earlier summary; the text is "" if there are no such words and not even
    that fits. Raises UsageError for an unknown template.
    """
    template = resolve_template(request.template, request.template_text)
    passages = read_passages(request.messages, request.cwd, merges=True)
    following = read_passages(request.following, request.cwd)
    chosen = _choose_words(request, passages, count)
    words = tuple(word_items(passages, chosen))
    document = _document(request)
    room = request.budget - count(fill_document(document, (), template).encode())
    min_tokens = count(fill_document(document, words, template).encode())
    budget = budget_with(request.budget, chosen.tokens, min_tokens)
    if room < _MIN_ROOM or budget < min_tokens:
        earlier = tuple(earlier_items(passages))
        return Summary(text=_minimal_summary(document, words, earlier, request.budget, count))
    demand = EntityDemand.of(passages, shared_lexicon(request.cwd))
    items = list(_items(request, passages, following, demand))
    best = best_items(items, min(room, _BEST_ITEMS_SCALE * (budget - min_tokens)), count)
    pinned = (*words, *kept_request_items(passages, following), *best.values())
    covered = (
        *chosen.texts.values(),
        *(item.text for item in pinned if item not in words),
        *_texts(following),
    )
    material = SummaryMaterial(
        passages=passages,
        items=fragments_of((i for i in items if i not in best and i.text not in covered), demand),
        covered=covered,
        demand=demand,
    )
    selection = select_content(material, budget, count)
    draft = SummaryDraft(
        document=document, template=template, pinned=pinned, material=material, selection=selection
    )
    selection.grow(lambda: budget - count(draft.text()))
    text = draft.text()
    if count(text) > budget:
        text = fill_document(document, words, template).encode()
    return Summary(text=text)


def word_document(request: SummaryRequest, count: Callable[[str], int]) -> HandOver:
    """Return a document without headings of nothing but the user's and the operator's words."""
    passages = read_passages(request.messages, request.cwd, merges=True)
    words = word_items(passages, _choose_words(request, passages, count))
    return replace(
        _document(request), span="", sections=(HandOverSection("", tuple(document_items(words))),)
    )


def _choose_words(
    request: SummaryRequest, passages: Sequence[Passage], count: Callable[[str], int]
) -> UserWords:
    room = request.budget // 2 if request.words_room is None else request.words_room
    following = read_passages(request.following, request.cwd)
    return choose_words(passages, room, count, following, continues=request.continues)


def _items(
    request: SummaryRequest,
    passages: Sequence[Passage],
    following: Sequence[Passage],
    demand: EntityDemand,
) -> Iterator[SummaryItem]:
    pairs = tool_pairs(passages)
    yield from file_items(passages, request.cwd)
    yield from error_items(pairs, request.cwd, tool_pairs(following))
    yield from finding_items(passages, demand.lexicon)
    yield from command_items(pairs, request.cwd, tool_pairs(following))
    # What the messages that stay say of plans and tasks is newer.
    if not sets_tasks(following):
        yield from task_items(passages, following)
        if not any(plan_items(following)):
            yield from plan_items(passages)
    yield from earlier_items(passages)
    yield from current_items(passages, pairs)
    is_answered = any(message.role == "assistant" for message in request.following)
    yield from next_items(passages, is_answered=is_answered)


def _texts(passages: Sequence[Passage]) -> list[str]:
    return [passage.text for passage in passages if passage.kind != "thought"]


def _document(request: SummaryRequest) -> HandOver:
    """Return a document that says nothing yet."""
    refs = [ref.name for ref in refs_of(request.messages)]
    is_known = refs and not any(map(is_stand_in, request.messages))
    return HandOver(
        count=message_count(request.messages),
        span=f"{refs[0]} to {refs[-1]}" if is_known else "",
        following=sum(not is_stand_in(message) for message in request.following),
    )


def _minimal_summary(
    document: HandOver,
    words: Sequence[SummaryItem],
    earlier: Sequence[SummaryItem],
    budget: int,
    count: Callable[[str], int],
) -> str:
    """Return the user's words and a note that no summary fits, "" if not even that does.

    Points of an ``earlier`` summary follow as far as they fit.
    """

    def text(items: Sequence[SummaryItem]) -> str:
        sections = (HandOverSection("", tuple(document_items(items))),) if items else ()
        return replace(document, span="", is_short=True, sections=sections).encode()

    shown = text(words)
    for length in range(1, len(earlier) + 1):
        longer = text((*words, *earlier[:length]))
        if count(longer) > budget:
            break
        shown = longer
    return shown if words or count(shown) <= budget else ""
