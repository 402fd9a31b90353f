"""Fields of records as a session list shows them: titles, prompts and token counts."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.records.json_values import count_or_none, list_or_empty, object_or_empty
from compactctl.clients.records.wrapping import Wrapping, typed_in

MAX_TITLE = 200
"""Longer titles are cut to this many characters."""


def first_title(*candidates: object) -> str:
    """Return the first candidate that is a non-blank text, as one line; "" if there is none."""
    for candidate in candidates:
        if isinstance(candidate, str) and candidate.strip():
            return " ".join(candidate[: 8 * MAX_TITLE].split())[:MAX_TITLE]
    return ""


def user_text(content: object, client: Wrapping) -> str:
    """Return the first text of a message that the user may have typed; "" if there is none.

    ``content`` is a text or a list of content blocks of that client. A text that starts with a tag
    is the client's.
    """
    for text in _texts(content):
        typed = typed_in(text, client).lstrip()
        if typed and not typed.startswith("<"):
            return typed
    return ""


def _texts(content: object) -> Iterator[str]:
    blocks: list[Any] = [content] if isinstance(content, str) else list_or_empty(content)
    for block in blocks:
        text = block if isinstance(block, str) else object_or_empty(block).get("text")
        if isinstance(text, str):
            yield text


def sum_counts(record: Mapping[str, Any], *names: str) -> int | None:
    """Return the sum of the numbers of tokens under these names; None if it is 0."""
    return sum(count_or_none(record.get(name)) or 0 for name in names) or None
