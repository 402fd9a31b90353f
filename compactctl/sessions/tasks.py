"""Tasks of Cline's older extension and of Roo Code: one folder each, with the same files."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.formats.records.json_values import object_or_empty, text_or_empty
from compactctl.sessions.reading.documents import iter_items, iter_values, last_value
from compactctl.sessions.reading.fields import sum_counts
from compactctl.sessions.reading.file_ends import read_edges
from compactctl.sessions.reading.folders import FolderScanner, stat_or_none
from compactctl.sessions.session import NO_DETAILS, SessionDetails, SessionEntry

_SENT = "api_conversation_history.json"
_SHOWN = "ui_messages.json"
_USAGE = ("tokensIn", "cacheReads", "cacheWrites", "tokensOut")
# Where the provider's protocol is OpenAI's, what was read from a cache is within tokensIn.
_OPENAI_USAGE = ("tokensIn", "tokensOut")


def task_entries(
    client: str, storage: Path, folders: FolderScanner, known: Mapping[str, SessionDetails]
) -> Iterator[SessionEntry]:
    """Yield the tasks in an extension's folder; ``known`` is told of them by their ids."""
    for folder in folders.folders(storage / "tasks"):
        status = stat_or_none(folder / _SENT)
        if status is not None:
            yield SessionEntry.of_file(
                client, folder.name, (folder / _SENT, status), known.get(folder.name, NO_DETAILS)
            )


def task_prompt(path: Path) -> str:
    """Return what a task was begun with. Raises OSError."""
    try:
        head, _ = read_edges(path.with_name(_SHOWN))
    except FileNotFoundError:
        return ""
    begun = head if head.lstrip().startswith(b"[") else b""
    said = map(object_or_empty, iter_items(b'{"said":' + begun, "said"))
    return next(filter(None, (text_or_empty(each.get("text")) for each in said)), "")


def task_context(path: Path) -> tuple[int | None, str]:
    """Return the tokens of a task's newest request and its answer, and its model.

    ``path`` is what was sent; the counts stand in what was shown, beside it. Raises OSError.
    """
    try:
        _, tail = read_edges(path.with_name(_SHOWN))
    except FileNotFoundError:
        return None, ""
    requests = (_request(text) for text in reversed(list(iter_values(tail, "text"))))
    context = next(filter(None, requests), None)
    named = object_or_empty(last_value(tail, "modelInfo"))
    return context, text_or_empty(named.get("modelId"))


def _request(text: object) -> int | None:
    """Return the tokens of a request that is told of in a text, None for any other text."""
    if not isinstance(text, str) or '"tokensIn"' not in text:
        return None
    try:
        told: Mapping[str, Any] = object_or_empty(json.loads(text))
    except (ValueError, RecursionError):
        return None
    is_openai = told.get("apiProtocol") == "openai"
    return sum_counts(told, *(_OPENAI_USAGE if is_openai else _USAGE))
