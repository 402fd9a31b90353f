"""How much of a window files may fill, and how much of each file fits.

Figures and rules are those of NeuroLink, "File Token Budget". Sizes are in bytes; tokens are
estimated by size alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Literal

from compactctl.model.numbers import exact
from compactctl.records import Record

FileOutcome = Literal["whole", "cut", "preview", "excluded"]

# FILE_READ_BUDGET_PERCENT, FILE_FAST_PATH_SIZE, FILE_PREVIEW_MODE_SIZE and FILE_PREVIEW_CHARS.
DEFAULT_SHARE = 0.6
FAST_PATH_BYTES = 102_400
PREVIEW_BYTES = 5_242_880
PREVIEW_CHARS = 2_000
CHARS_PER_TOKEN = 4
# NeuroLink keeps at least this much of a file that is cut, whatever the budget.
MIN_CUT_CHARS = 2_000

# Extensions by the types that NeuroLink's aggregate file budget distinguishes.
_EXTENSIONS: Mapping[str, str] = {
    "video": "avi m4v mkv mov mp4 mpeg mpg ogv webm wmv",
    "audio": "aac aiff flac m4a mp3 oga ogg opus wav wma",
    "image": "avif bmp gif heic heif ico jpeg jpg png tif tiff webp",
    "archive": "7z bz2 gz jar rar tar tgz xz zip zst",
    "pdf": "pdf",
    "xlsx": "xls xlsx",
    "docx": "doc docx",
    "pptx": "ppt pptx",
    "svg": "svg",
    "csv": "csv tsv",
}
_TYPES = {ext: kind for kind, extensions in _EXTENSIONS.items() for ext in extensions.split()}
_OFFICE = ("docx", "pptx", "xlsx")
# Tokens by type and size, as NeuroLink's aggregate budget estimates them.
TOKEN_ESTIMATES: Mapping[str, Callable[[int], int]] = {
    "video": lambda _: 500,
    "audio": lambda _: 300,
    "image": lambda _: 1_500,
    "archive": lambda _: 1_000,
    "unknown": lambda _: 500,
    "pdf": lambda size: min(-(-size // 100), 50_000),
    "svg": lambda size: -(-size // CHARS_PER_TOKEN),
    **dict.fromkeys(_OFFICE, lambda size: -(-size * 15 // (100 * CHARS_PER_TOKEN))),
}
# Types that can be cut.
_TEXT_TYPES = frozenset({"csv", "svg", "text"})


class FileSize(Record):
    """A file and its size in bytes.

    ``kind`` is ``csv``, ``text`` or a key of ``TOKEN_ESTIMATES``.
    """

    name: str
    size: int
    kind: str = "text"

    @property
    def is_text(self) -> bool:
        """Whether the file can be cut."""
        return self.kind in _TEXT_TYPES

    @property
    def estimated_tokens(self) -> int:
        """The estimate by type that NeuroLink uses for several files together."""
        estimate = TOKEN_ESTIMATES.get(self.kind, _estimate_text)
        return estimate(self.size)


class FileAllocation(Record):
    """How much of a file fits.

    Attributes:
        tokens: what is sent of the file; 0 if it is excluded.
        full_tokens: the whole file.
        max_chars: the number of characters to cut it to; None if it is not cut.
    """

    file: FileSize
    outcome: FileOutcome
    tokens: int
    full_tokens: int
    max_chars: int | None = None

    @property
    def notice(self) -> str:
        """The sentence that tells the model what is missing; "" for a file that is whole."""
        name = f'"{self.file.name}"'
        match self.outcome:
            case "whole":
                return ""
            case "excluded":
                return f"Skipped {name} ({_kilobytes(self.file.size)} KB) — exceeds context budget"
            case "preview":
                return f"Previewed {name}: its first {self.max_chars:,} characters"
            case "cut":
                return f"Cut {name} to its first {self.max_chars:,} characters"


def file_budget(window: int, used: int, reserve: int, share: float = DEFAULT_SHARE) -> int:
    """Return the tokens that files may take: a share of what remains of the window, at least 0."""
    return max(0, int(exact(share) * (window - used - reserve)))


def allocate_in_order(files: Iterable[FileSize], budget: int) -> tuple[FileAllocation, ...]:
    """Allocate the budget to files one after the other; each gets what those before it leave."""
    allocations = []
    for file in files:
        allocations.append(_allocate(file, budget))
        budget -= allocations[-1].tokens
    return tuple(allocations)


def allocate_separately(files: Iterable[FileSize], budget: int) -> tuple[FileAllocation, ...]:
    """Compare each file with the whole budget, as NeuroLink does.

    Small files are sent whole and larger ones in part even if the budget is 0.
    """
    return tuple(_neurolink_rule(file, budget) for file in files)


def allocate_whole_files(files: Sequence[FileSize], budget: int) -> tuple[FileAllocation, ...]:
    """Include whole files, the smallest first, as long as they fit; exclude the others."""
    allocations = []
    for file in sorted(files, key=attrgetter("size")):
        tokens = file.estimated_tokens
        allocations.append(_whole(file, tokens) if tokens <= budget else _excluded(file, tokens))
        budget -= allocations[-1].tokens
    return tuple(allocations)


def allocate_proportionally(files: Sequence[FileSize], budget: int) -> tuple[FileAllocation, ...]:
    """Cut all texts to the same share if they do not fit together.

    Files that are not text come first: whole and the smallest first, or not at all.
    """
    others = allocate_whole_files([file for file in files if not file.is_text], budget)
    texts = [file for file in files if file.is_text]
    remaining = budget - sum(allocation.tokens for allocation in others)
    needed = sum(_tokens(file.size) for file in texts)
    if needed <= remaining:
        return (*others, *(_whole(file, _tokens(file.size)) for file in texts))
    shares = ((file, remaining * _tokens(file.size) // needed) for file in texts)
    return (*others, *(_shortened(file, "cut", share * CHARS_PER_TOKEN) for file, share in shares))


def _allocate(file: FileSize, budget: int) -> FileAllocation:
    if not file.is_text:
        return allocate_whole_files([file], budget)[0]
    if file.size > PREVIEW_BYTES:
        return _shortened(file, "preview", min(PREVIEW_CHARS, budget * CHARS_PER_TOKEN))
    if _tokens(file.size) <= budget:
        return _whole(file, _tokens(file.size))
    return _shortened(file, "cut", budget * CHARS_PER_TOKEN)


def _neurolink_rule(file: FileSize, budget: int) -> FileAllocation:
    if file.size > PREVIEW_BYTES:
        return _shortened(file, "preview", PREVIEW_CHARS)
    tokens = _tokens(file.size)
    if file.size < FAST_PATH_BYTES or tokens <= budget:
        return _whole(file, tokens)
    return _shortened(file, "cut", max(MIN_CUT_CHARS, budget * CHARS_PER_TOKEN))


def _shortened(file: FileSize, outcome: FileOutcome, chars: int) -> FileAllocation:
    full_tokens = _tokens(file.size)
    if chars <= 0:
        return _excluded(file, full_tokens)
    return FileAllocation(
        file=file, outcome=outcome, tokens=_tokens(chars), full_tokens=full_tokens, max_chars=chars
    )


def _whole(file: FileSize, tokens: int) -> FileAllocation:
    return FileAllocation(file=file, outcome="whole", tokens=tokens, full_tokens=tokens)


def _excluded(file: FileSize, tokens: int) -> FileAllocation:
    return FileAllocation(file=file, outcome="excluded", tokens=0, full_tokens=tokens)


def _tokens(chars: int) -> int:
    return -(-chars // CHARS_PER_TOKEN)


def _estimate_text(size: int) -> int:
    """Estimate a text at a third more than one token per four characters."""
    return -(-size * 133 // (100 * CHARS_PER_TOKEN))


def _kilobytes(size: int) -> int:
    """Return a size in units of 1,024 bytes, rounded half up as NeuroLink shows it."""
    return (2 * size + 1024) // 2048


def file_type(name: str, head: bytes) -> str:
    """Return a file's type by its extension, else ``text``, or ``unknown`` if it has NUL bytes."""
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return _TYPES.get(extension) or ("unknown" if b"\0" in head else "text")
