"""What people see of a session: texts on one line, and what nobody typed left out."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.formats.records.json_values import list_or_empty, object_or_empty
from compactctl.history.voices import typed_in

MAX_TITLE = 200
"""Characters of a title that are kept."""


def first_title(*candidates: object) -> str:
    """Return the first candidate that is a text with something in it, on one line."""
    for each in candidates:
        if isinstance(each, str) and each.strip():
            return " ".join(each[: 8 * MAX_TITLE].split())[:MAX_TITLE]
    return ""


def user_text(content: object) -> str:
    """Return the first text in the content of a message that a person may have typed.

    ``content`` is a text or a list of blocks with texts. What begins with a tag was put there by
    a client.
    """
    for text in _texts(content):
        typed = typed_in(text).lstrip()
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
    """Return the sum of the whole numbers under these names; None when it is nothing."""
    found = (record.get(name) for name in names)
    total = sum(n for n in found if isinstance(n, int) and not isinstance(n, bool) and n > 0)
    return total or None
