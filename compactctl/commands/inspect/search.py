"""Finds messages by what they say, the archived ones too, and shows them page by page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compactctl.commands.inspect.view import ViewResult
from compactctl.errors import UsageError
from compactctl.model.message import FilePart, Message
from compactctl.tokens.meter import part_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Which messages to show: those with every pattern in them, ``limit`` to a page.

    Without patterns that is every message, without a limit all are on one page. Pages count
    from 1.
    """

    patterns: tuple[str, ...] = ()
    limit: int | None = None
    page: int = 1


def search(result: ViewResult, wanted: Search) -> ViewResult:
    """Return what is wanted of a view; its lines are those that these messages stand on.

    Raises:
        UsageError: a pattern is not a regular expression, or a page is asked for without a limit.
    """
    if wanted.page > 1 and wanted.limit is None:
        raise UsageError("--page needs --limit, the number of messages on a page")
    patterns = [_compiled(pattern) for pattern in wanted.patterns]
    found = [viewed for viewed in result.messages if _says(viewed.message, patterns)]
    start = (wanted.page - 1) * (wanted.limit or 0)
    stop = None if wanted.limit is None else start + wanted.limit
    shown = tuple(found[start:stop])
    lines = {viewed.message.line: viewed.line for viewed in shown}
    return replace(
        result,
        lines=tuple(lines.values()),
        messages=shown,
        found=len(found),
        before=min(start, len(found)),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--grep {pattern!r} is not a regular expression: {error}") from error


def _says(message: Message, patterns: Sequence[re.Pattern[str]]) -> bool:
    texts = list(_texts(message))
    return all(any(pattern.search(text) for text in texts) for pattern in patterns)


def _texts(message: Message) -> Iterator[str]:
    """Yield what is shown of a message: tool names, arguments and file paths too."""
    for part in message.parts:
        yield from part_texts(part)
        if isinstance(part, FilePart):
            yield part.file_path
