"""Writes a digest of a conversation that takes as many tokens as there are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.model.message import Message
from compactctl.summaries.digest.fragments import Fragment, fragments
from compactctl.summaries.digest.lists import listed
from compactctl.summaries.digest.page import NOTE, noted, page, title
from compactctl.summaries.digest.pinned import pinned, whole_summaries
from compactctl.summaries.digest.selection import Offer, Selection
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage, passages
from compactctl.summaries.extract.user_requests import budget_with, lasting_words
from compactctl.summaries.extract.uses import EntityDemand

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
        said: tokens of what people said in what stays.
        cwd: the session's working folder.
        gaps: mark where lines are left out.
    """

    messages: tuple[Message, ...]
    following: tuple[Message, ...] = ()
    budget: int
    said: int = 0
    cwd: str | None = None
    gaps: bool = True


def digest(request: DigestRequest, count: CountTexts) -> str:
    """Write a digest of at most ``budget`` tokens, as ``count`` measures texts.

    Everything in it is quoted; the same messages give the same text. The words of people that last
    are always in it, so that it takes more where they do.
    """
    found = passages(request.messages, request.cwd)
    note = noted(NOTE, len(request.messages), found)
    kept = kept_texts(found, request, request.budget - count([note])[0], count)
    selection = Selection(*offer(request, found, kept.texts, count))

    def text() -> str:
        return page(note, found, kept.texts, selection.fragments, gaps=request.gaps)

    def tokens() -> int:
        return count([text()])[0]

    budget = budget_with(request.budget, kept.word_tokens, tokens(), request.said)
    selection.grow(lambda: budget - tokens())
    return text()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTexts:
    """What is always quoted, by passage, and the tokens of the people's words that last in it."""

    texts: Mapping[int, str]
    word_tokens: int


def kept_texts(
    found: Sequence[Passage], request: DigestRequest, room: int, count: CountTexts
) -> KeptTexts:
    """Return what is always quoted: what people said, and summaries as a whole.

    ``room`` is for all that is to be quoted.
    """

    def tokens(text: str) -> int:
        return count([text])[0]

    words = lasting_words(found, passages(request.following, request.cwd))
    kept = pinned(found, words, int(room * _PINNED_SHARE), tokens)
    left = room - sum(map(tokens, kept.values()))
    return KeptTexts(
        texts=kept | whole_summaries(found, int(left * _SUMMARY_SHARE), tokens),
        word_tokens=sum(map(tokens, words.texts.values())),
    )


def offer(
    request: DigestRequest, found: Sequence[Passage], kept: Mapping[int, str], count: CountTexts
) -> tuple[Offer, tuple[str, ...]]:
    """Return what there is to choose from, and what is said already by what is kept."""
    lexicon = Lexicon(request.cwd)
    offered = _offer(request, found, kept, EntityDemand.of(found, lexicon), count)
    told = (*_texts(request.following), *kept.values())
    return offered, tuple(name for text in told for name in lexicon.entities(text))


def _offer(
    request: DigestRequest,
    found: Sequence[Passage],
    kept: Mapping[int, str],
    demand: EntityDemand,
    count: CountTexts,
) -> Offer:
    needed, lexicon = demand.needed, demand.lexicon
    offered = (
        *fragments(found, kept, needed, lexicon),
        *listed(found, needed, lexicon, request.cwd),
    )
    groups = dict.fromkeys(each.group for each in offered)
    titles = {group: title(group, found) for group in groups}
    names = {group: lexicon.entities(text) for group, text in titles.items()}
    costs = zip(titles, _costs(list(titles.values()), count), strict=True)
    return Offer(
        fragments=offered,
        tokens=list(_prices(offered, count)),
        headings={group: (cost, names[group]) for group, cost in costs},
        needed=needed,
        unit=demand.unit,
        is_filled=True,
    )


def _prices(offered: Sequence[Fragment], count: CountTexts) -> Iterator[int]:
    costs = _costs([each.text for each in offered], count)
    for each, tokens in zip(offered, costs, strict=True):
        yield tokens + (_NAME_TOKENS if each.group.section == "names" else 0)


def _costs(texts: Sequence[str], count: CountTexts) -> list[int]:
    counted = zip(texts, count(texts), strict=True)
    return [tokens + _LINE_TOKENS if text else 0 for text, tokens in counted]


def _texts(messages: Sequence[Message]) -> list[str]:
    return [passage.text for passage in passages(messages) if passage.kind != "thought"]
