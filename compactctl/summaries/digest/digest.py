"""Writes a digest of a conversation that takes as many tokens as there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from compactctl.model.message import Message
from compactctl.summaries.digest.fragments import fragments
from compactctl.summaries.digest.lists import listed
from compactctl.summaries.digest.page import page, title
from compactctl.summaries.digest.pinned import pinned
from compactctl.summaries.digest.selection import Offer, Selection
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage, passages
from compactctl.summaries.extract.uses import EntityUses

# Requests may take this much of a digest before anything else is considered.
_PINNED_SHARE = 0.6
# Contrast between what is needed and what is not.
_POWER = 1.75
# Facts are worth multiples of the mean demand for so many entities, those needed most.
_NEEDED = 60
_ROUNDS = 5
_MOST_SCALE = 3.0
# Fewer tokens than these are not worth another round.
_SLACK = 30
# A fragment's mark and line end.
_LINE_TOKENS = 2

Count = Callable[[Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRequest:
    """What a digest is made of.

    Attributes:
        messages: the originals that it will stand for, oldest first.
        following: the messages that stay behind it; what they say need not be said again.
        budget: tokens that the text may have.
        cwd: the session's working folder.
        gaps: mark where lines are left out.
    """

    messages: tuple[Message, ...]
    following: tuple[Message, ...] = ()
    budget: int
    cwd: str | None = None
    gaps: bool = True


def digest(request: DigestRequest, count: Count) -> str:
    """Write a digest of at most ``budget`` tokens, as ``count`` measures texts.

    Everything in it is quoted; the same messages give the same text. The first and the last
    request are always in it; where they do not fit, it takes more.
    """
    draft = _Draft.of(request, count)
    text = draft.text()
    room = request.budget - draft.tokens(text)
    scale = 1.0
    for _ in range(_ROUNDS):
        if room < _SLACK:
            break
        before, priced = room, draft.selection.fill(round(room * scale))
        text, room = _within(draft, request.budget)
        # Fragments that stand together cost less than each does alone.
        scale = min(_MOST_SCALE, priced / max(1, before - room))
    return text


def _within(draft: "_Draft", budget: int) -> tuple[str, int]:
    """Give back what was chosen last until the text fits; also return the tokens left."""
    text = draft.text()
    room = budget - draft.tokens(text)
    while room < 0 and draft.selection.chosen:
        draft.selection.drop(-room)
        text = draft.text()
        room = budget - draft.tokens(text)
    return text, room


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What is written so far: the requests kept, and what is chosen beside them."""

    request: DigestRequest
    found: tuple[Passage, ...]
    kept: Mapping[int, str]
    selection: Selection
    count: Count

    @classmethod
    def of(cls, request: DigestRequest, count: Count) -> "_Draft":
        """Begin with the requests."""
        found = passages(request.messages, request.cwd)
        empty = page(0, found, {}, (), gaps=False)
        room = int((request.budget - count([empty])[0]) * _PINNED_SHARE)
        kept = pinned(found, room, lambda text: count([text])[0])
        lexicon = Lexicon(request.cwd)
        offer = _offer(found, kept, _Demand.of(found, lexicon, request.cwd), count)
        told = (*_texts(request.following), *kept.values())
        selection = Selection(offer, (name for text in told for name in lexicon.entities(text)))
        return cls(request=request, found=found, kept=kept, selection=selection, count=count)

    def text(self) -> str:
        """Write it down."""
        chosen, request = self.selection.fragments, self.request
        return page(len(request.messages), self.found, self.kept, chosen, gaps=request.gaps)

    def tokens(self, text: str) -> int:
        """Count the tokens of a text."""
        return self.count([text])[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demand:
    """What will be needed, and how it is found in a text."""

    needed: Mapping[str, float]
    lexicon: Lexicon
    cwd: str | None

    @classmethod
    def of(cls, found: Sequence[Passage], lexicon: Lexicon, cwd: str | None) -> "_Demand":
        """Weigh the entities of all that is sent again."""
        uses = EntityUses()
        for passage in found:
            if passage.kind != "thought":
                uses.add(lexicon.entities(passage.text), passage)
        needed = {entity: uses.demand(entity) ** _POWER for entity in uses.all}
        return cls(needed=needed, lexicon=lexicon, cwd=cwd)

    @property
    def unit(self) -> float:
        """The mean demand for the entities that are needed most."""
        most = sorted(self.needed.values(), reverse=True)[:_NEEDED]
        return sum(most) / len(most) if most else 1.0


def _offer(
    found: Sequence[Passage], kept: Mapping[int, str], demand: _Demand, count: Count
) -> Offer:
    needed, lexicon = demand.needed, demand.lexicon
    offered = (
        *fragments(found, kept, needed, lexicon),
        *listed(found, needed, lexicon, demand.cwd),
    )
    groups = dict.fromkeys(each.group for each in offered)
    titles = {group: title(group, found) for group in groups}
    names = {group: lexicon.entities(text) for group, text in titles.items()}
    costs = zip(titles, _costs(list(titles.values()), count), strict=True)
    return Offer(
        fragments=offered,
        tokens=_costs([each.text for each in offered], count),
        headings={group: (cost, names[group]) for group, cost in costs},
        needed=needed,
        unit=demand.unit,
    )


def _costs(texts: Sequence[str], count: Count) -> list[int]:
    counted = zip(texts, count(texts), strict=True)
    return [tokens + _LINE_TOKENS if text else 0 for text, tokens in counted]


def _texts(messages: Sequence[Message]) -> list[str]:
    return [passage.text for passage in passages(messages) if passage.kind != "thought"]
