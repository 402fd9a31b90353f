"""What every summary tells beside people's words: the best point of each section."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from compactctl.model.message import Message
from compactctl.summaries.extract.items import DECISIONS, SummaryItem, clipped
from compactctl.summaries.extract.passages import spots_of

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


def opening_items(
    items: Iterable[SummaryItem], room: int, count: Callable[[str], int]
) -> Iterator[SummaryItem]:
    """Yield the best point of each section that fits in its share of ``room``.

    So no section looks empty that has something to say. The newest reply is shortened to fit.
    """
    best: dict[tuple[int, str], SummaryItem] = {}
    for item in sorted(items, key=lambda item: (-item.value, item.place)):
        best.setdefault((item.section, item.topic), item)
    for section, share in _OPENED.items():
        if section in best:
            text, limit = best[section].text, int(room * share)
            text = _quoted(text, limit, count) if section == _CURRENT_WORK else text
            if count(text) <= limit:
                yield replace(best[section], text=text)


def elsewhere_items(
    messages: Sequence[Message], following: Sequence[Message]
) -> Iterator[SummaryItem]:
    """Say where the request stands if it is not among the messages but follows them."""
    everything = (*messages, *following)
    spots = zip(everything, spots_of(everything), strict=True)
    asked = [spot for message, spot in spots if message.starts_turn]
    if asked and not any(message.starts_turn for message in messages):
        text = f"The request is kept as it is: {asked[0]}."
        yield SummaryItem(section=1, text=text, value=0.0, place=asked[0].number)


def _quoted(text: str, limit: int, count: Callable[[str], int]) -> str:
    tokens = count(text) + _BULLET_TOKENS
    return text if tokens <= limit else clipped(text, max(_SHORTEST, len(text) * limit // tokens))
