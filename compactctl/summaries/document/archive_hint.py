"""Breadcrumb: the end of a summary that says where everything it stands for still is."""

import shlex


def breadcrumb(transcript: str, archive: str, lines: int) -> str:
    """Return the lines of a breadcrumb.

    ``transcript`` is the path of the compacted file, "" when it goes to a pipe; ``archive`` that of
    its archive, "" when the file carries its own originals; ``lines`` is how many lines the
    transcript had before. The content is that of VS Code Copilot Chat's.
    """
    place = f'in "{archive or transcript}"' if archive or transcript else "in this transcript"
    command = f"compactctl view --archived {shlex.quote(transcript) if transcript else 'FILE'}"
    return "\n".join(
        (
            f"The messages that this summary stands for are kept word for word {place}.",
            f"At the time this summary was created, the transcript had {lines:,} lines.",
            f"Example usage: {command}",
        )
    )
