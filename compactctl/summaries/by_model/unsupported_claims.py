"""Facts in a summary that are not in what was summarized: quotes, paths, numbers, identifiers."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from compactctl.model.message import FilePart, Message
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import read_passages, tool_pairs
from compactctl.tokens.meter import part_texts

ClaimKind = Literal["quote", "path", "identifier", "number"]

# Shorter quotes are names and emphasis rather than what somebody said.
QUOTE_WORDS = 4
# Smaller numbers count and enumerate.
MIN_NUMBER = 10

_MULTIPLES = {"k": 1_000, "m": 1_000_000}
_CURLY = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")
_STRAIGHT = re.compile(r"\"([^\"\n]+)\"")
_CITED = re.compile(r"^[^\S\n]*>[^\S\n]*(.+)$", re.MULTILINE)
# Where a quote leaves something out, or says in brackets what it leaves out.
_ELLIPSIS = re.compile(r"\.\.\.|…|\[[^\]]*\]")
_SAID = re.compile(r"\w+")
_LIST_NUMBER = re.compile(r"^(?:[\s>*+#-]*)\d{1,3}[.):](?=\s|$)", re.MULTILINE)
# A number that stands for itself: what is part of a name or of a path is judged with that.
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:[,_]\d{3})*(?:\.\d+)?)([a-zA-Z]{0,3})(?!\w|\.\w)")
_ANY_NUMBER = re.compile(r"(\d+(?:[,_]\d{3})*(?:\.\d+)?)([kKmM]?)")
_WHOLE_NUMBER = re.compile(r"\d+")
_ANY_VERSION = re.compile(r"\d+(?:\.\d+){2,}")
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+){2,})(?!\w)")
# What before or after a name makes it part of a longer one; an escaped line end does not.
_LETTER_BEFORE = re.compile(r"[\w@]\Z|\w-\Z")
_LETTER_AFTER = re.compile(r"[\w@]|-\w")
# The id of a commit may be shortened.
_HASH = re.compile(r"(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}")
# Not part of the name behind it: an escaped line end, and what ends the name of a tool's server.
_BOUNDARY = re.compile(r"\\[nrt]|__")
_ESCAPED_PATH = re.compile(r"[nrt]/")
# Kinds of entities that good prose makes up: "well-tested".
_PROSE_KINDS = frozenset({"name"})
# Colours of a terminal end in a letter, right before what they colour; some lost their escape.
_COLOUR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033)\[[\d;]*m|\[\d[\d;]*m")
_REDACTED = re.compile(r"\[REDACTED:[\w-]*\]")


@dataclass(frozen=True, slots=True)
class Claim:
    """Something in a summary that can be looked up in what it was made from."""

    kind: ClaimKind
    text: str


def first_unsupported(text: str, source: str, cwd: str | None = None) -> str:
    """Name the first of the ``unsupported_claims``, "" when there is none."""
    claim = next(unsupported_claims(text, source, cwd), None)
    return f"the {claim.kind} {claim.text!r} is not in what was summarized" if claim else ""


def unsupported_claims(text: str, source: str, cwd: str | None = None) -> Iterator[Claim]:
    """Yield the claims of ``text`` that ``source`` does not hold.

    Claims are quotes of at least four words, paths and names of code, error codes and ids, and
    numbers from 10. Paths may be shortened to a part that starts and ends at a slash, or lie in
    ``cwd``; quotes may leave something out at an ellipsis; numbers may be grouped or rounded to k.
    """
    text = _COLOUR.sub(" ", _LIST_NUMBER.sub("", _REDACTED.sub("", plain_quotes(text))))
    source = _COLOUR.sub(" ", plain_quotes(source))
    checks: tuple[tuple[Iterator[Claim], Callable[[str], bool]], ...] = (
        ((Claim("quote", each) for each in _quotes(text)), _QuoteMatcher(source)),
        (_names(text, cwd), _NameMatcher(source)),
        ((Claim("number", each) for each in _numbers(text)), _NumberMatcher(source)),
    )
    for claims, holds in checks:
        yield from (claim for claim in claims if not holds(claim.text))


def source_texts(messages: Iterable[Message]) -> Iterator[str]:
    """Yield what a summary of messages may take its claims from, paths of files included."""
    messages = tuple(messages)
    for part in (part for message in messages for part in message.parts):
        yield from part_texts(part)
        if isinstance(part, FilePart):
            yield part.file_path
    # The arguments of calls once more, as the tools saw them, without the escapes of JSON.
    for pair in tool_pairs(read_passages(messages)):
        yield from (f"{name}: {text}" for name, text in pair.texts)
        yield from filter(None, (pair.reads, *pair.changes))


def plain_quotes(text: str) -> str:
    """Return a text with straight quotation marks, as claims are looked for in it."""
    return text.translate(_CURLY)


class _QuoteMatcher:
    """Tells whether a source says something word for word, whatever is between the words."""

    def __init__(self, source: str) -> None:
        self._source = _plain(source)

    def __call__(self, quote: str) -> bool:
        return all(_plain(piece) in self._source for piece in _ELLIPSIS.split(quote))


class _NameMatcher:
    """Tells whether a source holds a name as a whole, or as whole parts of a path."""

    def __init__(self, source: str) -> None:
        self._source = source.lower()

    def __call__(self, name: str) -> bool:
        if any(map(self._holds, _variants(name))):
            return True
        return _listed(name) and all(map(self._holds, name.split("/")))

    def _holds(self, name: str) -> bool:
        wanted, start = name.lower(), 0
        may_go_on = _HASH.fullmatch(wanted) is not None
        while (place := self._source.find(wanted, start)) >= 0:
            start, end = place + 1, place + len(wanted)
            before, after = self._source[max(0, place - 2) : place], self._source[end : end + 2]
            is_part = _LETTER_BEFORE.search(before) and not _BOUNDARY.fullmatch(before)
            is_part = is_part and not ("/" in wanted and before.endswith("@"))
            if not is_part and (may_go_on or not _LETTER_AFTER.match(after)):
                return True
        return False


class _NumberMatcher:
    """Tells whether a source holds a number, however it is written."""

    def __init__(self, source: str) -> None:
        found = _ANY_NUMBER.findall(source)
        self._values = {value for each in found for value in _spellings(*each)}
        self._values.update(_WHOLE_NUMBER.findall(source), _ANY_VERSION.findall(source))

    def __call__(self, number: str) -> bool:
        if _ANY_VERSION.fullmatch(number):
            return number in self._values
        digits, unit = _ANY_NUMBER.findall(number)[0]
        return not self._values.isdisjoint(_spellings(digits, unit))


def _quotes(text: str) -> Iterator[str]:
    for line in text.splitlines():
        # With an odd number of marks nobody can tell which two belong together.
        if line.count('"') % 2 == 0:
            found = (m for m in _STRAIGHT.finditer(line) if not _is_code(line[: m.start()]))
            yield from (match[1] for match in found if _is_said(match[1]))
    yield from (quote for quote in _CITED.findall(text) if _is_said(quote))


def _is_said(quote: str) -> bool:
    return len(quote.split()) >= QUOTE_WORDS


def _is_code(before: str) -> bool:
    """Whether what follows is inside of a code span, where a mark quotes nobody."""
    return before.count("`") % 2 == 1


def _names(text: str, cwd: str | None) -> Iterator[Claim]:
    lexicon = Lexicon(cwd)
    for entity in lexicon.entities(text):
        kind = lexicon.kind(entity)
        if kind not in _PROSE_KINDS and not entity.startswith("#"):
            yield Claim("path" if kind == "path" else "identifier", entity)


def _variants(name: str) -> Iterator[str]:
    """Yield the ways in which a source may write a name."""
    yield name
    # Paths are shown with slashes, whatever stands in them.
    if "/" in name:
        yield name.replace("/", "\\")
    # What is left of a line end written as an escape stands before a path at times.
    if _ESCAPED_PATH.match(name):
        yield name[1:]


def _listed(name: str) -> bool:
    """Whether a name may be a list of words, as in read/write/all_of_it, rather than a path."""
    return "/" in name.strip("/") and name[0] not in "/~." and "." not in name


def _numbers(text: str) -> Iterator[str]:
    for digits, unit in _NUMBER.findall(text):
        if unit.lower() in _MULTIPLES or float(_ungrouped(digits)) >= MIN_NUMBER:
            yield digits + unit
    yield from _VERSION.findall(text)


def _spellings(digits: str, unit: str) -> Iterator[str]:
    """Yield a number without grouping and closing zeros, and with its multiple carried out."""
    plain = _ungrouped(digits)
    short = plain.rstrip("0").rstrip(".") if "." in plain else plain
    yield short
    if unit.lower() in _MULTIPLES:
        yield f"{float(plain) * _MULTIPLES[unit.lower()]:.0f}"


def _ungrouped(digits: str) -> str:
    return digits.replace(",", "").replace("_", "")


def _plain(text: str) -> str:
    """Return the words of a text in lower case, each between two spaces."""
    return f" {' '.join(_SAID.findall(text.lower()))} ".replace("  ", " ")
