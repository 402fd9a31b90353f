"""What people and clients wrote, of which a digest keeps all that it can."""

from collections.abc import Callable, Sequence

from compactctl.summaries.extract.items import OMISSION
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.user_requests import LastingWords, requests
from compactctl.summaries.extract.words import word_end

# Tokens up to which a request between the first and the last stays whole.
_WHOLE = 400
# Characters that are kept of the beginning of a longer one.
_BEGINNING = 160
# Of what room there is left, what one request may take whole.
_SHARE = 0.25
# Tokens of a heading and a line end.
_MARGIN = 6


def pinned(
    found: Sequence[Passage], words: LastingWords, room: int, count: Callable[[str], int]
) -> dict[int, str]:
    """Return what people said to quote, by passage: what lasts, and of other requests more.

    What lasts is there whatever it takes. Of the other requests, the newest are quoted whole, or
    with their beginning beside their rules, as far as ``room`` tokens allow.
    """
    kept = words.texts
    room -= sum(count(text) + _MARGIN for text in kept.values())
    places = {id(passage): index for index, passage in enumerate(found)}
    others = [(places[id(passage)], text) for passage, text in requests(found)]
    others = [(index, text) for index, text in others if index not in words.whole]
    for index, text in reversed(others):
        quoted = _quoted(text, room, count, words.rules.get(index, ()))
        known = count(kept[index]) + _MARGIN if index in kept else 0
        tokens = count(quoted) + _MARGIN - known
        if tokens <= room:
            kept[index] = quoted
            room -= tokens
    return kept


def whole_summaries(
    found: Sequence[Passage], room: int, count: Callable[[str], int]
) -> dict[int, str]:
    """Return the summaries that a client wrote, by passage, the newest that ``room`` tokens allow.

    Each is the digest of what is no longer there, and is quoted whole.
    """
    kept: dict[int, str] = {}
    for index in reversed(range(len(found))):
        tokens = count(found[index].text) + _MARGIN if found[index].kind == "summary" else 0
        if 0 < tokens <= room:
            kept[index] = found[index].text
            room -= tokens
    return kept


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
