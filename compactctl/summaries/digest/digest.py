"""Write a digest of a conversation within a token budget."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from compactctl.history.stand_ins import message_count
from compactctl.model.message import Message
from compactctl.model.own_texts import OwnDigest
from compactctl.model.summary import Summary
from compactctl.records import Record, replace
from compactctl.summaries.digest.fragments import (
    Fragment,
    collect_fragments,
    list_entries,
)
from compactctl.summaries.digest.hunks import find_hunks
from compactctl.summaries.digest.lines import PIECE_CHARS
from compactctl.summaries.digest.neighbors import find_neighbors
from compactctl.summaries.digest.render import fill_digest, group_heading
from compactctl.summaries.digest.selection import FragmentPool, Selection
from compactctl.summaries.extract.entities import EntityDemand, Lexicon, shared_lexicon
from compactctl.summaries.extract.passages import Passage, read_passages
from compactctl.summaries.extract.user_words import CUT, budget_with, choose_words
from compactctl.tokens.memory import Once
from compactctl.tokens.meter import Meter

# Tokens of a heading and a line end.
_MARGIN = 6
# Share of what remains beside the words of the user for summaries by a client.
_SUMMARY_SHARE = 1 / 3
# A fragment's mark and line end.
_LINE_TOKENS = 2
# Surcharge for a bare name, since a line chosen later often holds it for free. Tuned on sessions of
# two projects.
_NAME_TOKENS = 4
# So many lines are searched for those to quote, the newest first: as many as there are tokens to
# keep, but at least and at most these. The most take half a minute, and half a gigabyte.
_MIN_SEARCHED_LINES = 100_000
_MAX_SEARCHED_LINES = 300_000


def pin_summaries(
    passages: Sequence[Passage], room: int, count: Callable[[str], int]
) -> dict[int, str]:
    """Return the newest summaries by a client that fit into ``room`` tokens, by passage index.

    They are quoted whole, since their originals are not in the context.
    """
    pinned: dict[int, str] = {}
    for index in reversed(range(len(passages))):
        passage = passages[index]
        is_summary = passage.kind == "summary" and passage.is_proven
        if not is_summary or passage.text in pinned.values():
            continue
        tokens = count(passage.text) + _MARGIN
        if tokens <= room:
            pinned[index] = passage.text
            room -= tokens
    return pinned


class DigestRequest(Record):
    """A digest to write.

    Attributes:
        messages: the originals that it replaces, oldest first.
        following: the messages after it, which stay; the digest need not repeat them.
        budget: maximum tokens of the text; negative if the messages that stay exceed the target.
        words_room: tokens that the words of the user in it may take; half of the budget if None.
        whole_tokens: the size up to which a text of the user comes whole before parts of others.
        spoken_tokens: tokens of the words of the user in the messages that stay.
        n_following: how many of ``following`` follow the digest.
        cwd: the session's working folder.
    """

    messages: tuple[Message, ...]
    following: tuple[Message, ...] = ()
    n_following: int = 0
    budget: int
    words_room: int | None = None
    whole_tokens: int = 0
    spoken_tokens: int = 0
    cwd: str | None = None


def write_digest(request: DigestRequest, meter: Meter) -> Summary:
    """Return a digest of at most ``budget`` tokens.

    Everything in it is quoted. It always holds what ``choose_words`` returns, and is larger than
    the budget if that is. Its note says if the messages are too many to search all of them.
    """
    once = meter.memory.once
    passages = passages_of(request, once)
    digest = OwnDigest(count=message_count(request.messages), following=request.n_following)
    pinned = pin_texts(request, request.budget - meter.text_uncached(digest.encode()), meter)
    selection = Selection(*build_pool(request, pinned.texts, meter))
    shown = {**pinned.texts, **{run[0]: CUT for run in pinned.omitted}}

    def text() -> str:
        return fill_digest(digest, passages, shown, selection.fragments, once).encode()

    def tokens() -> int:
        return meter.text_uncached(text())

    budget = budget_with(request.budget, pinned.word_tokens, tokens(), request.spoken_tokens)
    selection.grow(lambda: budget - tokens())
    return Summary(text=text(), note=search_note(passages, request.budget))


def passages_of(request: DigestRequest, once: Once) -> tuple[Passage, ...]:
    """Return the passages of the originals that a digest replaces."""
    return once(_merged_passages, request.messages, request.cwd, once)


def _merged_passages(
    messages: tuple[Message, ...], cwd: str | None, once: Once
) -> tuple[Passage, ...]:
    return read_passages(messages, cwd, merges=True, once=once)


class PinnedTexts(Record):
    """What is always quoted.

    Attributes:
        texts: by passage index.
        omitted: runs of texts of the user of which nothing is quoted.
        word_tokens: the tokens of the user's words.
    """

    texts: Mapping[int, str]
    omitted: tuple[tuple[int, ...], ...]
    word_tokens: int


def pin_texts(request: DigestRequest, room: int, meter: Meter) -> PinnedTexts:
    """Return what is always quoted: words of the user, and whole summaries by a client.

    ``room`` is the tokens for all quotations.
    """
    once = meter.memory.once
    passages = passages_of(request, once)
    words_room = request.budget // 2 if request.words_room is None else request.words_room
    following = once(read_passages, request.following, request.cwd)
    words = choose_words(
        passages,
        words_room,
        meter.text,
        following,
        whole_tokens=request.whole_tokens,
        once=once,
    )
    max_tokens = int((room - words.tokens) * _SUMMARY_SHARE)
    return PinnedTexts(
        texts={**words.texts, **pin_summaries(passages, max_tokens, meter.text)},
        omitted=words.omitted,
        word_tokens=words.tokens,
    )


def build_pool(
    request: DigestRequest, pinned: Mapping[int, str], meter: Meter
) -> tuple[FragmentPool, tuple[str, ...]]:
    """Return the fragments to choose from, and the entities that other texts mention already."""
    once = meter.memory.once
    passages = passages_of(request, once)
    start = _search_start(passages, request.budget)
    lexicon = once(shared_lexicon, request.cwd)
    # Most attempts to fill a target differ in nothing but the budget.
    source = replace(request, budget=0, words_room=None, spoken_tokens=0, n_following=0)
    pinned_texts = tuple(pinned.items())
    pool = meter.memory.newest(_build_pool, source, pinned_texts, start, lexicon, meter)
    covered = (*_texts(once(read_passages, request.following)), *pinned.values())
    return pool, tuple(name for text in covered for name in lexicon.entities(text))


def search_note(passages: Sequence[Passage], budget: int) -> str:
    """Return a note on the messages that are too old to be searched; "" if all are searched."""
    start = _search_start(passages, budget)
    count = passages[start].part_index.message if start else 0
    return f"oldest messages searched only for the user's words: {count:,}" if count else ""


def _search_start(passages: Sequence[Passage], budget: int) -> int:
    """Return the index of the first passage whose lines may be chosen.

    A budget holds far fewer lines than tokens. Searching even more of them would take time and
    memory without limit.
    """
    lines = max(_MIN_SEARCHED_LINES, min(budget, _MAX_SEARCHED_LINES))
    for index in reversed(range(len(passages))):
        text = passages[index].text
        lines -= text.count("\n") + len(text) // PIECE_CHARS + 1
        if lines <= 0:
            return index
    return 0


def _build_pool(
    request: DigestRequest,
    pinned: tuple[tuple[int, str], ...],
    start: int,
    lexicon: Lexicon,
    meter: Meter,
) -> FragmentPool:
    """Return the fragments of the passages from ``start`` on, none of those that are pinned."""
    once = meter.memory.once
    passages = passages_of(request, once)
    following = once(read_passages, request.following)
    demand = EntityDemand.of(passages[start:], lexicon)
    fragments = (
        *collect_fragments(passages, dict(pinned), demand, start, once),
        *list_entries(passages, demand.demand, lexicon, request.cwd, following),
    )
    groups = dict.fromkeys(fragment.group for fragment in fragments)
    headings = {group: group_heading(group, passages, once) for group in groups}
    names = {group: lexicon.entities(heading) for group, heading in headings.items()}
    costs = zip(headings, _line_costs(list(headings.values()), meter), strict=True)
    return FragmentPool(
        fragments=fragments,
        hunks=find_hunks(passages, fragments, once),
        neighbors=find_neighbors(passages, fragments, once),
        tokens=list(_fragment_costs(fragments, meter)),
        headings={group: (cost, names[group]) for group, cost in costs},
        demand=demand.demand,
        demand_unit=demand.mean_top_demand,
        fill_spare_room=True,
    )


def _fragment_costs(fragments: Sequence[Fragment], meter: Meter) -> Iterator[int]:
    costs = _line_costs([fragment.text for fragment in fragments], meter)
    for fragment, tokens in zip(fragments, costs, strict=True):
        yield tokens + (_NAME_TOKENS if fragment.group.section == "names" else 0)


def _line_costs(texts: Sequence[str], meter: Meter) -> list[int]:
    return [
        tokens + _LINE_TOKENS if text else 0
        for text, tokens in zip(texts, meter.count_many(texts), strict=True)
    ]


def _texts(passages: Sequence[Passage]) -> list[str]:
    return [passage.text for passage in passages if passage.kind != "thought"]
