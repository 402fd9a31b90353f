"""The files that a prompt names, which Gemini CLI and Qwen Code put behind it."""

from collections.abc import Iterator, Sequence

from compactctl.model.message import Part, TextPart
from compactctl.records import replace

# Stand around the contents of files, in a part of their own.
_FILES, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"


def without_files(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts of a user's message; those with files that the prompt names are not typed.

    A file may hold the line that ends them, so the last one counts.
    """
    lines = [part.text.strip() if isinstance(part, TextPart) else "" for part in parts]
    first = lines.index(_FILES) if _FILES in lines else len(parts)
    ends = [index for index, line in enumerate(lines) if line == _FILES_END]
    last = ends[-1] if ends else len(parts)
    for index, part in enumerate(parts):
        yield as_not_typed(part) if first <= index <= last else part


def as_not_typed(part: Part) -> Part:
    """Return a part as one that holds nothing a user typed."""
    return replace(part, typed="") if isinstance(part, TextPart) else part
