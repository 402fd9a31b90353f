"""Truncates the output of a tool to a size, and saves the whole of it."""

import sys
from collections.abc import Callable
from pathlib import Path

from compactctl.asks import MAY, OUTPUT, POLICY, WRITES, ask
from compactctl.records import Record, field, replace
from compactctl.stages.limit import LimitOptions
from compactctl.stages.support.cutting import (
    OutputLimits,
    TruncatedOutput,
    TruncationStyle,
    byte_length,
    truncate,
)
from compactctl.store.files.content import read_first
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.limits import OUTPUT_LIMITS
from compactctl.store.files.source import STANDARD_STREAM, open_input
from compactctl.store.publish.saved_output import save_output

_DEFAULT = LimitOptions()
# Preserves bytes that are not UTF-8.
_ENCODING = ("utf-8", "surrogateescape")


class LimitOutputOptions(Record):
    """The output to truncate, and how.

    The limits apply to what ``shown`` returns, which makes a text printable.
    """

    path: str
    cutting: TruncationStyle = field(default_factory=TruncationStyle)
    shown: Callable[[str], str] = str
    max_bytes: int = ask(
        _DEFAULT.max_bytes,
        "Maximum size of the output in bytes, notice included; 0 for no limit. "
        f"[default: {_DEFAULT.max_bytes:,}]",
        POLICY,
        MAY,
        metavar="N",
    )
    max_lines: int = ask(
        _DEFAULT.max_lines,
        "Maximum number of lines, notice included; 0 for no limit. "
        f"[default: {_DEFAULT.max_lines:,}]",
        POLICY,
        MAY,
        metavar="N",
    )
    spill_dir: str | None = ask(
        None,
        "Save the full output to this folder if it is truncated, and name the file after the "
        "marker.",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FOLDER",
    )


class LimitOutputResult(Record):
    """An output within its limits.

    Attributes:
        content: the text with its notice; bytes that are not UTF-8 are escaped as surrogates.
        truncated: whether anything was cut.
        saved_path: the path of the whole output, None if it was not saved.
        original_size: the bytes of the whole output.
    """

    content: str
    truncated: bool
    saved_path: str | None
    original_size: int

    @property
    def data(self) -> bytes:
        """The content as bytes."""
        return self.content.encode(*_ENCODING)


def limit_output(options: LimitOutputOptions) -> LimitOutputResult:
    """Truncate an output that is over its limits, and save the whole of it first if requested.

    Raises NoInputError for an unreadable file, and DiskError if saving fails.
    """
    data = _read(options.path)
    text = options.shown(data.decode(*_ENCODING))
    truncated = _limited(text, options, options.cutting)
    if not truncated.truncated or options.spill_dir is None:
        return _result(truncated.content, truncated=truncated.truncated, size=len(data))
    saved = save_output(FileSystem(), Path(options.spill_dir), data)
    cutting = replace(options.cutting, pointer=f"Full output saved to: {saved}")
    truncated = _limited(text, options, cutting)
    return _result(truncated.content, truncated=True, size=len(data), saved=str(saved))


def _limited(text: str, options: LimitOutputOptions, cutting: TruncationStyle) -> TruncatedOutput:
    """Truncate a text to its limits as it is printed, which may be longer than the text."""
    limits = OutputLimits(max_bytes=options.max_bytes, max_lines=options.max_lines)
    while True:
        truncated = truncate(text, limits, cutting)
        shown = options.shown(truncated.content)
        excess = byte_length(shown) - (options.max_bytes or byte_length(shown))
        if excess <= 0:
            return replace(truncated, content=shown)
        limits = replace(limits, max_bytes=max(1, limits.max_bytes - excess))


def _read(path: str) -> bytes:
    """Return the output of a tool, which may be empty."""
    if path != STANDARD_STREAM:
        return open_input(path, OUTPUT_LIMITS).data
    data = b"".join(read_first(sys.stdin.buffer, OUTPUT_LIMITS.max_bytes + 1))
    OUTPUT_LIMITS.check_size(len(data), path)
    return data


def _result(
    content: str, *, truncated: bool, size: int, saved: str | None = None
) -> LimitOutputResult:
    return LimitOutputResult(
        content=content, truncated=truncated, saved_path=saved, original_size=size
    )
