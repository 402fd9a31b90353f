"""Options of commands by the names of their fields, in whatever record of them these are."""

from pathlib import Path
from typing import Any, TypeVar

from compactctl.records import Record, replace

T = TypeVar("T", bound=Record)


def asked(options: T, **values: Any) -> T:
    """Return options with these values; a path as ``output`` is the file that is written to."""
    own = options.__struct_fields__
    for name, value in values.items():
        if name == "output" and isinstance(value, str | Path | None):
            holder, inner = "output", "path"
        elif name in own:
            options = replace(options, **{name: value})
            continue
        else:
            holder, inner = _holder(options, name), name
        text_or_value = str(value) if isinstance(value, Path) else value
        record = replace(getattr(options, holder), **{inner: text_or_value})
        options = replace(options, **{holder: record})
    return options


def _holder(options: Record, name: str) -> str:
    records = ("input", "recipe", "output", "files", "gates")
    held = (each for each in records if hasattr(options, each))
    return next(each for each in held if hasattr(getattr(options, each), name))
