"""Cuts the output of a tool to a size, and saves it whole."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

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

# Bytes that are not UTF-8 come out as they went in.
_ENCODING = ("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOutputOptions:
    """What to cut and how.

    Attributes:
        path: the output, - for standard input.
        limits: the size it may have.
        cutting: what stays of it.
        spill_dir: where the whole output is saved, None for nowhere.
        shown: what makes a text fit to be printed; the limits hold for what it returns.
    """

    path: str
    limits: OutputLimits
    cutting: TruncationStyle = field(default_factory=TruncationStyle)
    spill_dir: str | None = None
    shown: Callable[[str], str] = str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOutputResult:
    """An output within its limits.

    Attributes:
        content: the text, notice included; bytes that are not UTF-8 are escaped as surrogates.
        truncated: whether anything was cut.
        saved_path: where the whole output is, None when it was not saved.
        original_size: bytes of the whole output.
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
    """Cut an output that is over its limits, after it was saved where that is asked for.

    Raises NoInputError for a file that cannot be read and DiskError when it cannot be saved.
    """
    data = _read(options.path)
    text = options.shown(data.decode(*_ENCODING))
    found = _limited(text, options, options.cutting)
    if not found.truncated or options.spill_dir is None:
        return _result(found.content, truncated=found.truncated, size=len(data))
    saved = save_output(FileSystem(), Path(options.spill_dir), data)
    cutting = replace(options.cutting, pointer=f"Full output saved to: {saved}")
    found = _limited(text, options, cutting)
    return _result(found.content, truncated=True, size=len(data), saved=str(saved))


def _limited(text: str, options: LimitOutputOptions, cutting: TruncationStyle) -> TruncatedOutput:
    """Cut a text, and a little more where a cut makes it longer to show."""
    limits = options.limits
    while True:
        found = truncate(text, limits, cutting)
        shown = options.shown(found.content)
        excess = byte_length(shown) - (options.limits.max_bytes or byte_length(shown))
        if excess <= 0:
            return replace(found, content=shown)
        limits = replace(limits, max_bytes=max(1, limits.max_bytes - excess))


def _read(path: str) -> bytes:
    """Return what a tool wrote, which may be nothing."""
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
