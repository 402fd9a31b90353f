"""A tokenizer with the interface of the package ctok, for Pythons on which that cannot run.

It has a tiny vocabulary, and the rules that counting by segments relies on: words are separate, a
space before a word or a number is free, three digits are a token, and the frame of a message
absorbs a leading space.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

FRAMES = {"3.0": 2, "4.7": 3}
NUMBERS = [f"{n:0{width}}" for width in (1, 2, 3) for n in range(10**width)]
WORDS = [
    "⟨bow⟩the⟨eow⟩",
    "⟨shift⟩⟨bow⟩the",
    "⟨caps⟩⟨bow⟩",
    "⟨bow⟩th",
    "th",
    "en⟨eow⟩",
    "é⟨eow⟩",
]
PIECES = frozenset({*NUMBERS, *WORDS, "\n"})
# A letter that no contraction follows, and one that is written anew in two steps.
NO_CONTRACTION, IN_TWO_STEPS = "日", "\x02"
_MIN_CAPITALS = {"3.0": 0, "4.7": 4}
_LETTER = r"[^\W\d_½]"
_CONTRACTION = rf"(?<={_LETTER})(?<!{NO_CONTRACTION})'(?i:s|t|re|ve|m|ll|d)(?!{_LETTER})"
_UNIT = re.compile(rf"{_CONTRACTION}|{_LETTER}+|[0-9]{{1,3}}| (?=[^\W_])|.", re.DOTALL)
_SYMBOL = re.compile(r"⟨\w+⟩|.", re.DOTALL)


def normalize(text: str, version: str) -> str:
    """Return the text that is counted."""
    assert version in FRAMES
    steps = text.replace("\x01", "").replace(IN_TWO_STEPS, "\x01").replace("\u00a0", " ")
    return unicodedata.normalize("NFC", steps)


def tokenize(text: str, version: str) -> list[str]:
    """Return the tokens of a text, with those of the message's frame."""
    plain = normalize(text, version)
    body = plain[1:] if plain.startswith(" ") and text.startswith(" ") else plain
    tokens = [token for unit in _units(body) for token in _tokens(unit, version)]
    return ["⟨pad⟩"] * FRAMES[version] + tokens


def token_count(text: str, version: str) -> int:
    """Return the number of tokens of a text, with those of the message's frame."""
    return len(tokenize(text, version))


def marked_stream(text: str, version: str) -> str:
    """Return a text with the marks of words."""
    units = _units(normalize(text, version))
    return "".join(_marked(unit, version) if _is_word(unit) else unit for unit in units)


def pieces(version: str) -> dict[str, dict[str, str]]:
    """Return the vocabulary; a part of a character is of the kind "prefix"."""
    assert version in FRAMES
    words = {piece: {"kind": "text"} for piece in PIECES}
    return {**words, "⟨bow⟩1": {"kind": "prefix"}}


def _units(text: str) -> Iterator[str]:
    return (match[0] for match in _UNIT.finditer(text))


def _is_word(unit: str) -> bool:
    return unit.isalpha()


def _marked(word: str, version: str) -> str:
    if word[0].isupper() and not any(map(str.isupper, word[1:])):
        return f"⟨shift⟩⟨bow⟩{word.lower()}⟨eow⟩"
    if word.isupper() and 0 < _MIN_CAPITALS[version] <= len(word):
        return f"⟨caps⟩⟨bow⟩{word.lower()}⟨eow⟩"
    return f"⟨bow⟩{word}⟨eow⟩"


def _tokens(unit: str, version: str) -> tuple[str, ...]:
    if _is_word(unit):
        return _fewest(tuple(_SYMBOL.findall(_marked(unit, version))))
    return () if unit == " " else (unit,)


@cache
def _fewest(symbols: tuple[str, ...]) -> tuple[str, ...]:
    if not symbols:
        return ()
    heads = (symbols[:size] for size in range(1, len(symbols) + 1))
    known = [head for head in heads if len(head) == 1 or "".join(head) in PIECES]
    return min((("".join(head), *_fewest(symbols[len(head) :])) for head in known), key=len)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this module the package ctok."""
    module = ModuleType("ctok")
    module.__spec__ = ModuleSpec("ctok", None)
    for function in (normalize, tokenize, token_count, marked_stream, pieces):
        setattr(module, function.__name__, function)
    monkeypatch.setitem(sys.modules, "ctok", module)
