"""Writes a digest of a conversation that takes as many tokens as there are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.model.message import Message
from compactctl.summaries.digest.fragments import Fragment, collect_fragments, list_entries
from compactctl.summaries.digest.render import NOTE, format_note, group_heading, render_digest
from compactctl.summaries.digest.selection import FragmentPool, Selection
from compactctl.summaries.extract.entities import EntityDemand, Lexicon
from compactctl.summaries.extract.items import OMISSION
from compactctl.summaries.extract.passages import Passage, read_passages
from compactctl.summaries.extract.user_requests import (
    LastingWords,
    budget_with,
    find_lasting_words,
    user_requests,
)
from compactctl.summaries.extract.words import word_end

# Tokens up to which a request between the first and the last stays whole.
_WHOLE = 400
# Characters that are kept of the beginning of a longer one.
_BEGINNING = 160
# Of what room there is left, what one request may take whole.
_SHARE = 0.25
# Tokens of a heading and a line end.
_MARGIN = 6


def pin_requests(
    passages: Sequence[Passage], words: LastingWords, room: int, count: Callable[[str], int]
) -> dict[int, str]:
    """Return what people said to quote, by passage: what lasts, and of other requests more.

    What lasts is there whatever it takes. Of the other requests, the newest are quoted whole, or
    with their beginning beside their rules, as far as ``room`` tokens allow.
    """
    pinned = words.texts
    room -= sum(count(text) + _MARGIN for text in pinned.values())
    places = {id(passage): index for index, passage in enumerate(passages)}
    others = [(places[id(passage)], text) for passage, text in user_requests(passages)]
    others = [(index, text) for index, text in others if index not in words.whole]
    for index, text in reversed(others):
        quoted = _quoted(text, room, count, words.rules.get(index, ()))
        known = count(pinned[index]) + _MARGIN if index in pinned else 0
        tokens = count(quoted) + _MARGIN - known
        if tokens <= room:
            pinned[index] = quoted
            room -= tokens
    return pinned


def pin_summaries(
    passages: Sequence[Passage], room: int, count: Callable[[str], int]
) -> dict[int, str]:
    """Return the summaries that a client wrote, by passage, the newest that ``room`` tokens allow.

    Each is the digest of what is no longer there, and is quoted whole.
    """
    pinned: dict[int, str] = {}
    for index in reversed(range(len(passages))):
        tokens = count(passages[index].text) + _MARGIN if passages[index].kind == "summary" else 0
        if 0 < tokens <= room:
            pinned[index] = passages[index].text
            room -= tokens
    return pinned


def _quoted(text: str, room: int, count: Callable[[str], int], rules: Sequence[str]) -> str:
    if count(text) + _MARGIN <= min(_WHOLE, room * _SHARE):
        return text
    beginning = _cut(text, _BEGINNING)
    return "\n\n".join((beginning, *(rule for rule in rules if rule not in beginning)))


def _cut(text: str, length: int) -> str:
    """Return the beginning of a text, ended where a word ends."""
    if len(text) <= length:
        return text
    return text[: word_end(text, length)].rstrip() + OMISSION.rstrip()


# Requests may take this much of a digest before anything else is considered, beside the words that
# last, and summaries that a client wrote this much of what is left.
_PINNED_SHARE = 0.6
_SUMMARY_SHARE = 1 / 3
# A fragment's mark and line end.
_LINE_TOKENS = 2
# What a bare name is charged beside, since a line that is chosen later often tells it for nothing.
# Chosen on sessions of two projects.
_NAME_TOKENS = 4

CountTexts = Callable[[Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRequest:
    """What a digest is made of.

    Attributes:
        messages: the originals that it will stand for, oldest first.
        following: the messages that stay behind it; what they say need not be said again.
        budget: tokens that the text may have; less than 0 where what stays is too large already.
        spoken_tokens: tokens of what people said in what stays.
        cwd: the session's working folder.
        mark_gaps: mark where lines are left out.
    """

    messages: tuple[Message, ...]
    following: tuple[Message, ...] = ()
    budget: int
    spoken_tokens: int = 0
    cwd: str | None = None
    mark_gaps: bool = True


def write_digest(request: DigestRequest, count: CountTexts) -> str:
    """Write a digest of at most ``budget`` tokens, as ``count`` measures texts.

    Everything in it is quoted; the same messages give the same text. The words of people that last
    are always in it, so that it takes more where they do.
    """
    passages = read_passages(request.messages, request.cwd)
    note = format_note(NOTE, len(request.messages), passages)
    pinned = pin_texts(passages, request, request.budget - count([note])[0], count)
    selection = Selection(*build_pool(request, passages, pinned.texts, count))

    def text() -> str:
        return render_digest(
            note, passages, pinned.texts, selection.fragments, gaps=request.mark_gaps
        )

    def tokens() -> int:
        return count([text()])[0]

    budget = budget_with(request.budget, pinned.word_tokens, tokens(), request.spoken_tokens)
    selection.grow(lambda: budget - tokens())
    return text()


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTexts:
    """What is always quoted, by passage, and the tokens of the people's words that last in it."""

    texts: Mapping[int, str]
    word_tokens: int


def pin_texts(
    passages: Sequence[Passage], request: DigestRequest, room: int, count: CountTexts
) -> PinnedTexts:
    """Return what is always quoted: what people said, and summaries as a whole.

    ``room`` is for all that is to be quoted.
    """

    def tokens(text: str) -> int:
        return count([text])[0]

    words = find_lasting_words(passages, read_passages(request.following, request.cwd))
    pinned = pin_requests(passages, words, int(room * _PINNED_SHARE), tokens)
    left = room - sum(map(tokens, pinned.values()))
    return PinnedTexts(
        texts=pinned | pin_summaries(passages, int(left * _SUMMARY_SHARE), tokens),
        word_tokens=sum(map(tokens, words.texts.values())),
    )


def build_pool(
    request: DigestRequest,
    passages: Sequence[Passage],
    pinned: Mapping[int, str],
    count: CountTexts,
) -> tuple[FragmentPool, tuple[str, ...]]:
    """Return what there is to choose from, and what is said already by what is kept."""
    lexicon = Lexicon(request.cwd)
    offered = _build_fragments(request, passages, pinned, EntityDemand.of(passages, lexicon), count)
    told = (*_texts(request.following), *pinned.values())
    return offered, tuple(name for text in told for name in lexicon.entities(text))


def _build_fragments(
    request: DigestRequest,
    passages: Sequence[Passage],
    pinned: Mapping[int, str],
    demand: EntityDemand,
    count: CountTexts,
) -> FragmentPool:
    needed, lexicon = demand.demand, demand.lexicon
    offered = (
        *collect_fragments(passages, pinned, needed, lexicon),
        *list_entries(passages, needed, lexicon, request.cwd),
    )
    groups = dict.fromkeys(each.group for each in offered)
    titles = {group: group_heading(group, passages) for group in groups}
    names = {group: lexicon.entities(text) for group, text in titles.items()}
    costs = zip(titles, _costs(list(titles.values()), count), strict=True)
    return FragmentPool(
        fragments=offered,
        tokens=list(_prices(offered, count)),
        headings={group: (cost, names[group]) for group, cost in costs},
        demand=needed,
        demand_unit=demand.mean_top_demand,
        fill_spare_room=True,
    )


def _prices(offered: Sequence[Fragment], count: CountTexts) -> Iterator[int]:
    costs = _costs([each.text for each in offered], count)
    for each, tokens in zip(offered, costs, strict=True):
        yield tokens + (_NAME_TOKENS if each.group.section == "names" else 0)


def _costs(texts: Sequence[str], count: CountTexts) -> list[int]:
    counted = zip(texts, count(texts), strict=True)
    return [tokens + _LINE_TOKENS if text else 0 for text, tokens in counted]


def _texts(messages: Sequence[Message]) -> list[str]:
    return [passage.text for passage in read_passages(messages) if passage.kind != "thought"]
