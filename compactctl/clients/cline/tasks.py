"""Tasks of Cline's older extension and of Roo Code: one folder each, with the same files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.clients.reading.documents import iter_items, iter_values, last_value
from compactctl.clients.reading.fields import sum_counts
from compactctl.clients.reading.file_ends import read_edges
from compactctl.clients.reading.folders import FolderScanner, stat_or_none
from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.clients.session import NO_DETAILS, SessionDetails, SessionEntry
from compactctl.model.json_parser import parse_json

_HISTORY = "api_conversation_history.json"
_UI_MESSAGES = "ui_messages.json"
_USAGE = ("tokensIn", "cacheReads", "cacheWrites", "tokensOut")
# With OpenAI's protocol, tokensIn includes cache reads.
_OPENAI_USAGE = ("tokensIn", "tokensOut")


def task_entries(
    client: str, storage: Path, folders: FolderScanner, listings: Mapping[str, SessionDetails]
) -> Iterator[SessionEntry]:
    """Yield the tasks in an extension's folder; ``listings`` has what is known of some, by id."""
    for folder in folders.folders(storage / "tasks"):
        path = folder / _HISTORY
        status = stat_or_none(path)
        if status is not None:
            listing = listings.get(folder.name, NO_DETAILS)
            yield SessionEntry.of_file(client, folder.name, (path, status), listing)


def task_prompt(path: Path) -> str:
    """Return a task's first prompt, "" if it is not recorded; raises OSError."""
    try:
        head, _ = read_edges(path.with_name(_UI_MESSAGES))
    except FileNotFoundError:
        return ""
    # The file is an array, but ``iter_items`` reads one under a key.
    messages = map(object_or_empty, iter_items(b'{"messages":' + head, "messages"))
    return next(filter(None, (text_or_empty(message.get("text")) for message in messages)), "")


def task_context(path: Path) -> tuple[int | None, str]:
    """Return the tokens of a task's newest request and its answer, and its model.

    The counts are not in the history at ``path``, but in the messages of the user interface beside
    it. Raises OSError.
    """
    try:
        _, tail = read_edges(path.with_name(_UI_MESSAGES))
    except FileNotFoundError:
        return None, ""
    contexts = map(_request_tokens, reversed(list(iter_values(tail, "text"))))
    context = next(filter(None, contexts), None)
    model = object_or_empty(last_value(tail, "modelInfo"))
    return context, text_or_empty(model.get("modelId"))


def _request_tokens(text: object) -> int | None:
    """Return the tokens of a request from its message, which is JSON in a text; else None."""
    if not isinstance(text, str) or '"tokensIn"' not in text:
        return None
    try:
        request: Mapping[str, Any] = object_or_empty(parse_json(text))
    except ValueError:
        return None
    is_openai = request.get("apiProtocol") == "openai"
    return sum_counts(request, *(_OPENAI_USAGE if is_openai else _USAGE))
