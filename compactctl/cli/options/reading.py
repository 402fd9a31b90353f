"""Options about the input: its format, its maximum size, and how strictly it is checked."""

from pathlib import Path

import click

from compactctl.asks import INPUT, MAY, READS
from compactctl.cli.opt import OptGroup, opt
from compactctl.cli.options.asked import asked
from compactctl.clients.apis.api_format import API_LOG
from compactctl.clients.registry import format_named
from compactctl.commands.reading.transcript import InputOptions
from compactctl.store.files.limits import ReadLimits


def _format_with_path(format: str | None, messages_at: str | None) -> str | None:
    """Return the name of a format, with the path of its messages. Raises UsageError."""
    if messages_at is None:
        return format
    name = f"{format or API_LOG}:{messages_at}"
    format_named(name)
    return name


FORMAT = OptGroup(
    "input.format",
    *asked(InputOptions, "format"),
    # Not a field of its own, but the end of the format's name.
    opt(
        "messages_at",
        INPUT,
        MAY,
        "Read the messages of each logged request from this field, e.g. request.messages.",
        metavar="FIELD",
    ),
    make=_format_with_path,
)

# A field of the options of several commands.
ARCHIVE = opt(
    "archive",
    INPUT,
    READS,
    "Archive folder of FILE, if FILE was moved or renamed without it.",
    path="settings",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)


LIMITS = OptGroup("input.limits", *asked(ReadLimits))

STRICT = OptGroup("input", *asked(InputOptions, "strict"))
