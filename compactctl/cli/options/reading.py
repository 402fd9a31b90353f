"""Options about the input: its format, its maximum size, and how strictly it is checked."""

from pathlib import Path

import click

from compactctl.asks import INPUT, LOADS, MAY, READS
from compactctl.cli.opt import KnownName, OptGroup, ParsedText, flag, opt
from compactctl.cli.options.completion import complete_format
from compactctl.formats.api_format import API_LOG
from compactctl.formats.registry import ALL_FORMATS, format_named
from compactctl.store.files.limits import ReadLimits, parse_byte_size

FORMATS = ", ".join(format_.name for format_ in ALL_FORMATS)


def _format_with_path(format_name: str | None, messages_at: str | None) -> str | None:
    """Return the name of a format, with the path of its messages. Raises UsageError."""
    if messages_at is None:
        return format_name
    name = f"{format_name or API_LOG}:{messages_at}"
    format_named(name)
    return name


FORMAT = OptGroup(
    "input.format",
    opt(
        "format_name",
        INPUT,
        MAY,
        f"Read the transcript as this format instead of detecting it ({FORMATS}).",
        flag="--format",
        type=KnownName(format_named),
        metavar="NAME",
        shell_complete=complete_format,
    ),
    opt(
        "messages_at",
        INPUT,
        MAY,
        "Read the messages of each logged request from this field, e.g. request.messages.",
        metavar="FIELD",
    ),
    make=_format_with_path,
)

ARCHIVE = opt(
    "archive",
    INPUT,
    READS,
    "Archive folder of FILE, if FILE was moved or renamed without it.",
    path="settings",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)


LIMITS = OptGroup(
    "input.limits",
    opt(
        "max_line_bytes",
        INPUT,
        LOADS,
        "Reject a transcript with a line longer than this, e.g. 64M bytes.",
        flag="--max-line",
        type=ParsedText(parse_byte_size),
        metavar="SIZE",
        default="256M",
        show_default=True,
    ),
    opt(
        "max_bytes",
        INPUT,
        LOADS,
        "Reject a transcript larger than this when unpacked.",
        flag="--max-unpacked",
        type=ParsedText(parse_byte_size),
        metavar="SIZE",
        default="2G",
        show_default=True,
    ),
    make=ReadLimits,
)

STRICT = flag(
    "input.strict",
    INPUT,
    MAY,
    "Exit 4 if a line, or more than 10% of the text, is not recognized.",
)
