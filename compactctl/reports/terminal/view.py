"""``view`` on a terminal: text to be read, or the raw lines."""

from collections.abc import Iterator
from functools import partial

from compactctl.commands.inspect.records import records_of
from compactctl.commands.inspect.view import ViewedMessage, ViewResult
from compactctl.reports.rendering.part_text import part_text
from compactctl.reports.rendering.screen import Raw, Verbatim
from compactctl.reports.rendering.text import line_text, path_name, plural, safe_text

# A part is cut here on screen unless ``--full`` asks for all of it; in characters.
SHORT_TEXT = 2_000


def view_terminal(result: ViewResult) -> Iterator[Verbatim | Raw]:
    """Yield what to print: the messages as text or, where that is asked for, the raw lines."""
    if result.detail == "raw":
        yield Raw(records_of(result))
    else:
        yield from map(Verbatim, _text(result, full=result.detail == "full"))


def view_messages(result: ViewResult) -> Iterator[str]:
    """Yield the lines for standard error: what was found, or why there is nothing to see."""
    yield from (f"warning: {line_text(warning)}" for warning in result.warnings)
    if result.found is not None:
        yield f"{path_name(result.path)}: {_found(result, result.found)}"
    elif not result.messages:
        nothing = "nothing is hidden" if result.what == "archived" else "there are no messages"
        yield f"{path_name(result.path)}: {nothing}"


def _text(result: ViewResult, *, full: bool) -> Iterator[str]:
    numbers = dict.fromkeys(viewed.message.conversation for viewed in result.messages)
    newest = None
    for viewed in result.messages:
        if len(numbers) > 1 and viewed.message.conversation != newest:
            newest = viewed.message.conversation
            yield f"══ conversation {newest + 1}"
        yield _title(viewed, "line" if result.what == "effective" else "no")
        for part in viewed.message.parts:
            yield part_text(part, partial(_cut, full=full))
        yield ""


def _found(result: ViewResult, found: int) -> str:
    """Say how many messages a search found, and which of them are shown if not all."""
    whole = f"{plural(found, 'message')} found"
    if len(result.messages) == found:
        return whole
    first, last = result.before + 1, result.before + len(result.messages)
    return f"{whole}; shown are {first:,} to {last:,}" if result.messages else f"{whole}, none here"


def _title(viewed: ViewedMessage, place: str) -> str:
    """Return a message's heading; ``place`` says what its number counts.

    Among hidden messages it counts the lines that are shown, as ``--jsonl`` prints them.
    """
    message = viewed.message
    marks = [
        "summary" if message.summary else "",
        "marker" if message.tags.is_truncation_marker else "",
        "rewritten" if message.tags.edit_id else "",
        "injected" if message.injected and not message.synthetic else "",
        f"hidden by {viewed.hidden_by}" if viewed.hidden_by else "",
        viewed.stage or "",
    ]
    noted = ", ".join(mark for mark in marks if mark)
    return f"── {place} {message.line + 1} · {message.role}" + (f" · {noted}" if noted else "")


def _cut(text: str, *, full: bool) -> str:
    if full or len(text) <= SHORT_TEXT:
        return safe_text(text)
    rest = len(text) - SHORT_TEXT
    return f"{safe_text(text[:SHORT_TEXT])}\n[… {rest:,} more characters; see them with --full]"
