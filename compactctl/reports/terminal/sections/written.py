"""What was written, and what beside it, and how to go on, for every command that writes."""

from collections.abc import Iterator

from compactctl.commands.forking.written import Written
from compactctl.reports.rendering.text import line_text, plural, shell_path, size_text
from compactctl.reports.rendering.wording import carried_text


def written_text(written: Written, n_bytes: int | None = None, before: int = 0) -> str:
    """Return what was written where; ``n_bytes`` is its size, ``before`` what was there of it."""
    output = line_text(written.output)
    if written.appended_lines:
        lines = plural(written.appended_lines, "line")
        size = "" if n_bytes is None else f" ({size_text(n_bytes - before)})"
        return f"appended {lines}{size} to {output}; all before them is as it was"
    return f"wrote {output}" if n_bytes is None else f"wrote {output} ({size_text(n_bytes)})"


def undo_text(written: Written) -> str:
    """Return the command that undoes what was written."""
    insist = " --while-open" if written.undo_insists else ""
    return f"compactctl rewind {shell_path(written.undo_name)}{insist}"


def beside_texts(written: Written) -> Iterator[str]:
    """Yield what is to be known of the session that it was made of."""
    if written.forked_from:
        yield f"this is a session of its own; {line_text(written.forked_from)} is as it was"
    if written.carried_lines:
        yield carried_text(written.carried_lines)


def continue_texts(command: str | None) -> Iterator[str]:
    """Yield how to go on with a session, nothing where there is none."""
    if command:
        yield f"continue with: {line_text(command)}"
