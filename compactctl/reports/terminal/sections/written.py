"""What was written beside a transcript, and how to go on, for every command that writes one."""

from collections.abc import Iterator

from compactctl.commands.forking.written import Written
from compactctl.reports.rendering.text import line_text
from compactctl.reports.rendering.wording import carried_text


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
