"""Fuzzy lookup in a set of texts: finds paraphrases, shortened paths and abbreviated commit ids."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from compactctl.history.read_calls import normal_path
from compactctl.summaries.extract.entities import COMMIT_ID, Lexicon
from compactctl.summaries.extract.passages import Passage

# A text is mentioned where this share of its words stand close together: a paraphrase keeps most
# nouns and verbs.
MATCH_SHARE = 0.6
# "Close" is a distance of this many times the length of the text, in words.
_SPREAD = 3
_MIN_SPREAD = 24
# How many positions of the text's rarest words are tried.
_MAX_STARTS = 40

_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?:ing|ed|es|s|ly|e)$")
_MIN_STEM = 4
# Words that do not show what a sentence is about.
_FUNCTION_WORDS = """
a about all also am an and any are as at be been but by can could did do does for from had has have
he her here him his how i if in into is it its just let like ll m may me more most my now of on one
or our out please re s see she should so some such t than that the their them then there these they
this those to too up us use ve very was we well were what when where which while who will with
would you your
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
# A rule that forbids something has one of these.
_REFUSALS = frozenset("no not never don doesn shouldn mustn cannot without avoid".split())  # noqa: SIM905
# A paraphrase of such a rule may have one of these instead; without any it is another rule.
_OTHER_NEGATIONS = """
none noth didn isn aren won forbid forbidden prohibit only stop instead rather skip exclud refus
leav unless
"""
_NEGATIONS = _REFUSALS.union(_OTHER_NEGATIONS.split())

_CHUNK = re.compile(r"[^\s\"'`<>()\[\]{},;|*]+")
# What joins names: a field to its object, a file to its folder.
_JOINT = re.compile(r"[./]+")
_ESCAPE = re.compile(r"\\[nrt](?=[/~])")
_LINE_SUFFIX = re.compile(r"(?::\d+(?:[-:]\d+)?|#L?\d+.*)$")
_COMMIT_ID_START = 7


class MentionIndex:
    """Looks up paraphrases, paths and entities in a set of texts.

    Takes time and memory linear in the texts; a lookup takes time linear in what is looked up.
    """

    def __init__(self, texts: Sequence[str], lexicon: Lexicon) -> None:
        self._texts, self._lexicon = texts, lexicon

    def has_paraphrase(self, text: str) -> bool:
        """Whether most of a text's content words stand close together somewhere.

        A prohibition must be one there, too.
        """
        words = _words(text)
        content_stems = {s for s in map(_stem, words) if s not in _STOP_WORDS | _REFUSALS}
        if not content_stems:
            return True
        min_matches = math.ceil(MATCH_SHARE * len(content_stems))
        reach = max(_MIN_SPREAD, _SPREAD * len(words))
        refuses = not _REFUSALS.isdisjoint(words)
        return any(
            len(content_stems & window) >= min_matches
            and not (refuses and _NEGATIONS.isdisjoint(window))
            for window in self._windows(content_stems, reach)
        )

    def has_path(self, path: str, *, is_only: bool) -> bool:
        """Whether a path is named, in full or without some of its first folders.

        The file name alone is enough if ``is_only``: no other path has it.
        """
        parts = _parts(path)
        for candidate in self._paths.get(parts[-1:], ()):
            shared = min(len(candidate), len(parts))
            if candidate[-shared:] == parts[-shared:] and (
                shared > 1 or is_only or candidate == parts
            ):
                return True
        return False

    def has_entity(self, entity: str) -> bool:
        """Whether an entity is named, alone or in a longer name; a commit id may be shortened."""
        if COMMIT_ID.fullmatch(entity):
            return entity[:_COMMIT_ID_START] in self._commit_ids
        return entity in self._entities

    def _windows(self, stems: set[str], reach: int) -> Iterator[set[str]]:
        """Yield the stems around the newest positions of the rarest of these stems."""
        positions = self._positions
        rarest = sorted(
            (stem for stem in stems if stem in positions), key=lambda stem: len(positions[stem])
        )
        starts = [pos for stem in rarest for pos in positions[stem][-_MAX_STARTS:]][:_MAX_STARTS]
        for pos in starts:
            yield set(self._stems[max(0, pos - reach) : pos + reach])

    @cached_property
    def _stems(self) -> list[str]:
        return [_stem(word) for text in self._texts for word in _words(text)]

    @cached_property
    def _positions(self) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {}
        for pos, stem in enumerate(self._stems):
            if stem not in _STOP_WORDS:
                positions.setdefault(stem, []).append(pos)
        return positions

    @cached_property
    def _paths(self) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
        """The words that may be paths, split into names, by their last name."""
        by_name: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for word in {word for text in self._texts for word in _CHUNK.findall(_bare(text))}:
            parts = _parts(without_line_suffix(word.rstrip(".:!?~")))
            by_name.setdefault(parts[-1:], set()).add(parts)
        return by_name

    @cached_property
    def _entities(self) -> frozenset[str]:
        names = {name for text in self._texts for name in self._lexicon.entities(text)}
        return frozenset(names.union(*map(_JOINT.split, names)))

    @cached_property
    def _commit_ids(self) -> frozenset[str]:
        return frozenset(e[:_COMMIT_ID_START] for e in self._entities if COMMIT_ID.fullmatch(e))


def without_line_suffix(path: str) -> str:
    """Remove the line numbers behind a path, as in ``a.py:12-40``."""
    return _LINE_SUFFIX.sub("", path)


def visible_texts(passages: Iterable[Passage], cwd: str | None) -> list[str]:
    """Return the texts that the next request sends: all but reasoning, plus the paths of files."""
    texts = []
    for passage in passages:
        if passage.kind != "thought":
            texts.append(passage.text)
        if passage.kind == "file":
            texts.append(normal_path(passage.name, cwd))
    return texts


def _parts(path: str) -> tuple[str, ...]:
    """Split a path into names, without ``.``, ``..``, ``~`` and an ellipsis for omitted folders."""
    return tuple(part for part in path.replace("\\", "/").split("/") if part.strip(".~\u2026"))


def _bare(text: str) -> str:
    r"""Replace escaped line ends before a path by blanks: ``\n/etc`` is not a folder ``n``."""
    return _ESCAPE.sub(" ", text)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _stem(word: str) -> str:
    if len(word) <= _MIN_STEM:
        return word
    stem = _ENDING.sub("", word)
    return stem if len(stem) >= _MIN_STEM - 1 else word
