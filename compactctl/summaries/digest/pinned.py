"""What people and clients wrote, of which a digest keeps all that it can."""

from collections.abc import Callable, Sequence

from compactctl.summaries.extract.items import OMISSION
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.user_requests import requests, rules
from compactctl.summaries.extract.words import word_end

# Tokens up to which a request stays whole, and of the first and the last one.
_WHOLE, _WHOLE_MAIN = 400, 1_600
# Characters that are kept of the beginning of a longer one.
_BEGINNING, _BEGINNING_MAIN = 160, 700
# Of what room there is left, what one request may take whole.
_SHARE, _SHARE_MAIN = 0.25, 0.5
# Tokens of a heading and a line end.
_MARGIN = 6


def pinned(found: Sequence[Passage], room: int, count: Callable[[str], int]) -> dict[int, str]:
    """Return the requests to quote, by passage: whole, or their beginning and their rules.

    The first and the last are always there, the newest of the others as far as ``room`` tokens
    allow; those two take more only where their rules do.
    """
    places = {id(passage): index for index, passage in enumerate(found)}
    asked = [(places[id(passage)], text) for passage, text in requests(found)]
    main = {index for index, _ in (*asked[:1], *asked[-1:])}
    kept: dict[int, str] = {}
    for index, text in sorted(asked, key=lambda each: (each[0] not in main, -each[0])):
        quoted = _quoted(text, room, count, is_main=index in main)
        tokens = count(quoted) + _MARGIN
        if tokens <= room or index in main:
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


def _quoted(text: str, room: int, count: Callable[[str], int], *, is_main: bool) -> str:
    whole, share = (_WHOLE_MAIN, _SHARE_MAIN) if is_main else (_WHOLE, _SHARE)
    if count(text) + _MARGIN <= min(whole, room * share):
        return text
    beginning = _cut(text, _BEGINNING_MAIN if is_main else _BEGINNING)
    return "\n".join((beginning, *(rule for rule in rules(text) if rule not in beginning)))


def _cut(text: str, length: int) -> str:
    """Return the beginning of a text, ended where a word ends."""
    if len(text) <= length:
        return text
    return text[: word_end(text, length)].rstrip() + OMISSION.rstrip()
