"""The texts in transcripts of any format, for counting them."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

# Pictures and encrypted reasoning are not text that a model reads.
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\-\s]{2000,}")
# Shorter strings are mostly ids, kinds and times.
_SHORTEST = 40
_JSON = {".json", ".jsonl"}
_PLAIN = {".md", ".txt"}


def texts_of(paths: Iterable[Path], *, most_bytes: float = float("inf")) -> list[str]:
    """Return the strings in files and folders, in order, until there are ``most_bytes``."""
    texts: list[str] = []
    size = 0
    for path in _files(paths):
        for text in _texts_in(path):
            texts.append(text)
            size += size_of(text)
            if size >= most_bytes:
                return texts
    return texts


def size_of(text: str) -> int:
    """Return a text's size in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in found if file.suffix in _JSON | _PLAIN and file.is_file())


def _texts_in(path: Path) -> Iterator[str]:
    data = path.read_bytes()
    if path.suffix in _PLAIN:
        yield data.decode("utf-8", "replace")
        return
    for piece in data.split(b"\n") if path.suffix == ".jsonl" else [data]:
        try:
            value = json.loads(piece)
        except ValueError:
            continue
        yield from filter(_is_text, _strings(value))


def _is_text(string: str) -> bool:
    return len(string) >= _SHORTEST and not _BASE64.fullmatch(string)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
