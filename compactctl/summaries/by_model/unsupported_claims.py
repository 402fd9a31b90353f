"""Find claims of a summary that its source does not hold: quotes, paths, numbers, identifiers."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from compactctl.model.message import FilePart, Message, media_of, media_text
from compactctl.records import Record
from compactctl.summaries.extract.entities import COMMIT_ID, Lexicon
from compactctl.summaries.extract.passages import read_passages, tool_pairs
from compactctl.tokens.meter import part_texts

ClaimKind = Literal["quote", "path", "identifier", "number"]

# Shorter quotes are names and emphasis rather than quotations.
QUOTE_WORDS = 4
# Smaller numbers merely count and enumerate.
MIN_NUMBER = 10

_MULTIPLES = {"k": 1_000, "m": 1_000_000}
_CURLY = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")
_STRAIGHT = re.compile(r"\"([^\"\n]+)\"")
_CITED = re.compile(r"^[^\S\n]*>[^\S\n]*(.+)$", re.MULTILINE)
# An omission in a quote, or a remark in brackets.
_ELLIPSIS = re.compile(r"\.\.\.|…|\[[^\]]*\]")
_WORD = re.compile(r"\w+")
_LIST_NUMBER = re.compile(r"^(?:[\s>*+#-]*)\d{1,3}[.):](?=\s|$)", re.MULTILINE)
# A number by itself; one in a name or a path is checked as part of that.
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:[,_]\d{3})*(?:\.\d+)?)([a-zA-Z]{0,3})(?!\w|\.\w)")
_ANY_NUMBER = re.compile(r"(\d+(?:[,_]\d{3})*(?:\.\d+)?)([kKmM]?)")
_WHOLE_NUMBER = re.compile(r"\d+")
_ANY_VERSION = re.compile(r"\d+(?:\.\d+){2,}")
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+){2,})(?!\w)")
# What makes a name part of a longer one when it stands before or after it.
_LETTER_BEFORE = re.compile(r"[\w@]\Z|\w-\Z")
_LETTER_AFTER = re.compile(r"[\w@]|-\w")
# Separates a name from what precedes it: an escaped line end, and the end of an MCP server's name.
_BOUNDARY = re.compile(r"\\[nrt]|__")
_ESCAPED_PATH = re.compile(r"[nrt]/")
# Kinds of entities that ordinary prose coins: "well-tested".
_PROSE_KINDS = frozenset({"name"})
# Terminal color codes end in a letter, right before the colored text; some have lost their escape.
_COLOR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033)\[[\d;]*m|\[\d[\d;]*m")
_REDACTED = re.compile(r"\[REDACTED:[\w-]*\]")


class Claim(Record, kw_only=False):
    """Something in a summary that can be looked up in its source."""

    kind: ClaimKind
    text: str


def first_unsupported(text: str, source: str, cwd: str | None = None) -> str:
    """Describe the first of the ``unsupported_claims``; "" if there is none."""
    claim = next(unsupported_claims(text, source, cwd), None)
    return f"the {claim.kind} {claim.text!r} is not in what was summarized" if claim else ""


def unsupported_claims(text: str, source: str, cwd: str | None = None) -> Iterator[Claim]:
    """Yield the claims of ``text`` that ``source`` does not hold.

    Claims are quotes of at least four words, paths, identifiers, error codes and ids, and numbers
    from 10. Paths may be shortened at slashes or be relative to ``cwd``; quotes may have an
    ellipsis; numbers may be grouped, or written with k or m.
    """
    text = _COLOR.sub(" ", _LIST_NUMBER.sub("", _REDACTED.sub("", plain_quotes(text))))
    source = _COLOR.sub(" ", plain_quotes(source))
    checks: tuple[tuple[Iterator[Claim], Callable[[str], bool]], ...] = (
        ((Claim("quote", quote) for quote in _quotes(text)), _QuoteMatcher(source)),
        (_names(text, cwd), _NameMatcher(source)),
        ((Claim("number", number) for number in _numbers(text)), _NumberMatcher(source)),
    )
    for claims, is_supported in checks:
        yield from (claim for claim in claims if not is_supported(claim.text))


def source_texts(messages: Iterable[Message]) -> Iterator[str]:
    """Yield the texts that support claims about messages, paths of files included."""
    messages = tuple(messages)
    for part in (part for message in messages for part in message.parts):
        yield from part_texts(part)
        yield from map(media_text, media_of(part))
        if isinstance(part, FilePart):
            yield part.file_path
    # Arguments of calls once more without JSON escapes, as the tools got them.
    for pair in tool_pairs(read_passages(messages)):
        yield from (f"{name}: {text}" for name, text in pair.texts)
        yield from filter(None, (pair.reads, *pair.changes))


def plain_quotes(text: str) -> str:
    """Replace curly quotation marks by straight ones."""
    return text.translate(_CURLY)


class _QuoteMatcher:
    """Matches quotes word for word; case, punctuation and white space may differ."""

    def __init__(self, source: str) -> None:
        self._source = _plain_words(source)

    def __call__(self, quote: str) -> bool:
        return all(_plain_words(piece) in self._source for piece in _ELLIPSIS.split(quote))


class _NameMatcher:
    """Matches names that are whole words of a source, or whole parts of its paths."""

    def __init__(self, source: str) -> None:
        self._source = source.lower()

    def __call__(self, name: str) -> bool:
        if any(map(self._holds, _variants(name))):
            return True
        return _is_word_list(name) and all(map(self._holds, name.split("/")))

    def _holds(self, name: str) -> bool:
        name, start = name.lower(), 0
        # A summary may shorten the id of a commit.
        may_be_prefix = COMMIT_ID.fullmatch(name) is not None
        while (pos := self._source.find(name, start)) >= 0:
            start, end = pos + 1, pos + len(name)
            before, after = self._source[max(0, pos - 2) : pos], self._source[end : end + 2]
            is_part = _LETTER_BEFORE.search(before) and not _BOUNDARY.fullmatch(before)
            is_part = is_part and not ("/" in name and before.endswith("@"))
            if not is_part and (may_be_prefix or not _LETTER_AFTER.match(after)):
                return True
        return False


class _NumberMatcher:
    """Matches numbers by value: ``12,000``, ``12_000`` and ``12k`` are the same."""

    def __init__(self, source: str) -> None:
        numbers = _ANY_NUMBER.findall(source)
        self._values = {text for digits, unit in numbers for text in _spellings(digits, unit)}
        self._values.update(_WHOLE_NUMBER.findall(source), _ANY_VERSION.findall(source))

    def __call__(self, number: str) -> bool:
        if _ANY_VERSION.fullmatch(number):
            return number in self._values
        digits, unit = _ANY_NUMBER.findall(number)[0]
        return not self._values.isdisjoint(_spellings(digits, unit))


def _quotes(text: str) -> Iterator[str]:
    for line in text.splitlines():
        # With an odd number of marks it is unclear which two belong together.
        if line.count('"') % 2 == 0:
            matches = (m for m in _STRAIGHT.finditer(line) if not _is_code(line[: m.start()]))
            yield from (match[1] for match in matches if _is_quotation(match[1]))
    yield from (quote for quote in _CITED.findall(text) if _is_quotation(quote))


def _is_quotation(quote: str) -> bool:
    return len(quote.split()) >= QUOTE_WORDS


def _is_code(before: str) -> bool:
    """Whether the text after ``before`` is in a code span, where a quotation mark is syntax."""
    return before.count("`") % 2 == 1


def _names(text: str, cwd: str | None) -> Iterator[Claim]:
    lexicon = Lexicon(cwd)
    for entity in lexicon.entities(text):
        kind = lexicon.kind(entity)
        if kind not in _PROSE_KINDS and not entity.startswith("#"):
            yield Claim("path" if kind == "path" else "identifier", entity)


def _variants(name: str) -> Iterator[str]:
    """Yield the spellings under which a source may hold a name."""
    yield name
    # A summary may write Windows paths with slashes.
    if "/" in name:
        yield name.replace("/", "\\")
    # The n of an escaped line end sometimes sticks to the path behind it.
    if _ESCAPED_PATH.match(name):
        yield name[1:]


def _is_word_list(name: str) -> bool:
    """Whether a name may be alternatives, as in read/write/all_of_it, rather than a path."""
    return "/" in name.strip("/") and name[0] not in "/~." and "." not in name


def _numbers(text: str) -> Iterator[str]:
    for digits, unit in _NUMBER.findall(text):
        if unit.lower() in _MULTIPLES or float(_ungrouped(digits)) >= MIN_NUMBER:
            yield digits + unit
    yield from _VERSION.findall(text)


def _spellings(digits: str, unit: str) -> Iterator[str]:
    """Yield a number without grouping and trailing zeros, and multiplied out if it has a unit."""
    plain = _ungrouped(digits)
    short = plain.rstrip("0").rstrip(".") if "." in plain else plain
    yield short
    if unit.lower() in _MULTIPLES:
        yield f"{float(plain) * _MULTIPLES[unit.lower()]:.0f}"


def _ungrouped(digits: str) -> str:
    return digits.replace(",", "").replace("_", "")


def _plain_words(text: str) -> str:
    """Return the words of a text in lower case, each between two blanks."""
    return f" {' '.join(_WORD.findall(text.lower()))} ".replace("  ", " ")
