"""How much of a window may be filled with files, and how much of each file fits into that.

Figures and rules after NeuroLink, "File Token Budget". Sizes are bytes of the file, estimates are
tokens by size alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compactctl.model.numbers import exact

FileOutcome = Literal["whole", "cut", "preview", "excluded"]

# FILE_READ_BUDGET_PERCENT, FILE_FAST_PATH_SIZE, FILE_PREVIEW_MODE_SIZE and FILE_PREVIEW_CHARS.
DEFAULT_SHARE = 0.6
FAST_PATH_BYTES = 102_400
PREVIEW_BYTES = 5_242_880
PREVIEW_CHARS = 2_000
CHARS_PER_TOKEN = 4
# NeuroLink leaves this much of a file that is cut, whatever the budget.
MIN_CUT_CHARS = 2_000

# Extensions, by the types whose cost NeuroLink's aggregate file budget tells apart.
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
# Tokens by type of file, as NeuroLink's aggregate budget estimates them.
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
# Types of which a part can be sent.
_TEXTS = frozenset({"csv", "svg", "text"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSize:
    """A file: name, size in bytes, and type: a key of ``TOKEN_ESTIMATES``, ``csv`` or ``text``."""

    name: str
    size: int
    kind: str = "text"

    @property
    def is_text(self) -> bool:
        """Whether a part of it can be sent."""
        return self.kind in _TEXTS

    @property
    def estimated_tokens(self) -> int:
        """Tokens the file is estimated at beside others, by its type."""
        estimate = TOKEN_ESTIMATES.get(self.kind, _text_cost)
        return estimate(self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAllocation:
    """How much of a file fits.

    ``tokens`` is what that comes to, 0 when it is excluded, and ``full_tokens`` what the whole
    file would; ``max_chars`` is the number of characters to cut it to, None when nothing is cut.
    """

    file: FileSize
    outcome: FileOutcome
    tokens: int
    full_tokens: int
    max_chars: int | None = None

    @property
    def notice(self) -> str:
        """What to say of it; "" for a file that is whole."""
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
    """Return the tokens that files may take: a share of what is left of the window, or 0."""
    return max(0, int(exact(share) * (window - used - reserve)))


def allocate_in_order(files: Iterable[FileSize], budget: int) -> tuple[FileAllocation, ...]:
    """Judge files one after the other, each by what those before it leave of the budget."""
    verdicts = []
    for file in files:
        verdicts.append(_within(file, budget))
        budget -= verdicts[-1].tokens
    return tuple(verdicts)


def allocate_separately(files: Iterable[FileSize], budget: int) -> tuple[FileAllocation, ...]:
    """Judge each file against the whole budget, as NeuroLink does.

    Small files are whole, and something of larger ones is sent, even when nothing is left.
    """
    return tuple(_neurolink_rule(file, budget) for file in files)


def allocate_whole_files(files: Sequence[FileSize], budget: int) -> tuple[FileAllocation, ...]:
    """Include whole files, the smallest first, as long as they fit; the others are excluded."""
    verdicts = []
    for file in sorted(files, key=lambda each: each.size):
        fits = file.estimated_tokens <= budget
        verdicts.append(
            _whole(file, file.estimated_tokens) if fits else _excluded(file, file.estimated_tokens)
        )
        budget -= verdicts[-1].tokens
    return tuple(verdicts)


def allocate_proportionally(files: Sequence[FileSize], budget: int) -> tuple[FileAllocation, ...]:
    """Cut texts that do not fit together to the same share of each.

    Before that, what is not text goes in whole, the smallest first, or not at all.
    """
    others = allocate_whole_files([file for file in files if not file.is_text], budget)
    texts = [file for file in files if file.is_text]
    left = budget - sum(verdict.tokens for verdict in others)
    needed = sum(_tokens(file.size) for file in texts)
    if needed <= left:
        return (*others, *(_whole(file, _tokens(file.size)) for file in texts))
    shares = [left * _tokens(file.size) // needed for file in texts]
    cut = zip(texts, shares, strict=True)
    return (*others, *(_shortened(file, "cut", share * CHARS_PER_TOKEN) for file, share in cut))


def _within(file: FileSize, left: int) -> FileAllocation:
    if not file.is_text:
        return allocate_whole_files([file], left)[0]
    if file.size > PREVIEW_BYTES:
        return _shortened(file, "preview", min(PREVIEW_CHARS, left * CHARS_PER_TOKEN))
    if _tokens(file.size) <= left:
        return _whole(file, _tokens(file.size))
    return _shortened(file, "cut", left * CHARS_PER_TOKEN)


def _neurolink_rule(file: FileSize, budget: int) -> FileAllocation:
    if file.size > PREVIEW_BYTES:
        return _shortened(file, "preview", PREVIEW_CHARS)
    tokens = _tokens(file.size)
    if file.size < FAST_PATH_BYTES or tokens <= budget:
        return _whole(file, tokens)
    return _shortened(file, "cut", max(MIN_CUT_CHARS, budget * CHARS_PER_TOKEN))


def _shortened(file: FileSize, outcome: FileOutcome, chars: int) -> FileAllocation:
    whole = _tokens(file.size)
    if chars <= 0:
        return _excluded(file, whole)
    return FileAllocation(
        file=file, outcome=outcome, tokens=_tokens(chars), full_tokens=whole, max_chars=chars
    )


def _whole(file: FileSize, tokens: int) -> FileAllocation:
    return FileAllocation(file=file, outcome="whole", tokens=tokens, full_tokens=tokens)


def _excluded(file: FileSize, tokens: int) -> FileAllocation:
    return FileAllocation(file=file, outcome="excluded", tokens=0, full_tokens=tokens)


def _tokens(chars: int) -> int:
    return -(-chars // CHARS_PER_TOKEN)


def _text_cost(size: int) -> int:
    """Estimate a text with a third more than four characters per token would make."""
    return -(-size * 133 // (100 * CHARS_PER_TOKEN))


def _kilobytes(size: int) -> int:
    """Return a size in units of 1,024 bytes, rounded half up as NeuroLink shows it."""
    return (2 * size + 1024) // 2048


def file_type(name: str, head: bytes) -> str:
    """Return the type: by the extension, else ``text``, or ``unknown`` when it holds NUL bytes."""
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return _TYPES.get(extension) or ("unknown" if b"\0" in head else "text")
