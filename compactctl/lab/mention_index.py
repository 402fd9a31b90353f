"""What texts tell, asked loosely: in other words, with paths shortened, with ids cut."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from compactctl.history.read_calls import normal_path
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage

# A text is told where so much of its words stand together; a paraphrase keeps most nouns and verbs.
MATCH_SHARE = 0.6
# They stand together within so many times as many words.
_SPREAD = 3
_MIN_SPREAD = 24
# So many places of a text's rarest words are looked at.
_PLACES = 40

_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?:ing|ed|es|s|ly|e)$")
_MIN_STEM = 4
# Words that say nothing of what a sentence is about.
_EMPTY_WORDS = """
a about all also am an and any are as at be been but by can could did do does for from had has have
he her here him his how i if in into is it its just let like ll m may me more most my now of on one
or our out please re s see she should so some such t than that the their them then there these they
this those to too up us use ve very was we well were what when where which while who will with
would you your
"""
_STOP_WORDS = frozenset(_EMPTY_WORDS.split())
# What a rule that refuses something has in it.
_REFUSALS = frozenset("no not never don doesn shouldn mustn cannot without avoid".split())  # noqa: SIM905
# Told without any of these, it would be another rule.
_OTHER_NEGATIONS = """
none noth didn isn aren won forbid forbidden prohibit only stop instead rather skip exclud refus
leav unless
"""
_NEGATIONS = _REFUSALS.union(_OTHER_NEGATIONS.split())

_CHUNK = re.compile(r"[^\s\"'`<>()\[\]{},;|*]+")
# What joins names: a field to its object, a file to its folder.
_JOINT = re.compile(r"[./]+")
_ESCAPE = re.compile(r"\\[nrt](?=[/~])")
_PLACE_IN_FILE = re.compile(r"(?::\d+(?:[-:]\d+)?|#L?\d+.*)$")
_HASH = re.compile(r"(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}")
_HASH_START = 7


class MentionIndex:
    """What a number of texts tell together.

    Takes time and memory linear in the texts; a question takes time linear in itself.
    """

    def __init__(self, texts: Sequence[str], lexicon: Lexicon) -> None:
        self._texts, self._lexicon = texts, lexicon

    def has_paraphrase(self, text: str) -> bool:
        """Whether most of the words that carry a text's sense stand together somewhere.

        What a refusal refuses must be refused there as well.
        """
        said = _words(text)
        wanted = {stem for stem in map(_stem, said) if stem not in _STOP_WORDS | _REFUSALS}
        if not wanted:
            return True
        needed = math.ceil(MATCH_SHARE * len(wanted))
        reach = max(_MIN_SPREAD, _SPREAD * len(said))
        refuses = not _REFUSALS.isdisjoint(said)
        return any(
            len(wanted & window) >= needed and not (refuses and _NEGATIONS.isdisjoint(window))
            for window in self._windows(wanted, reach)
        )

    def has_path(self, path: str, *, is_only: bool) -> bool:
        """Whether a path is named, in full or by its end; ``is_only``: its file name is enough."""
        wanted = _parts(path)
        for known in self._paths.get(wanted[-1:], ()):
            short = min(len(known), len(wanted))
            if known[-short:] == wanted[-short:] and (short > 1 or is_only or known == wanted):
                return True
        return False

    def has_entity(self, entity: str) -> bool:
        """Whether an entity is named, alone or in a longer name; the id of a commit may be cut."""
        if _HASH.fullmatch(entity):
            return entity[:_HASH_START] in self._hashes
        return entity in self._entities

    def _windows(self, wanted: set[str], reach: int) -> Iterator[set[str]]:
        """Yield the words around the rarest of the wanted ones."""
        stems, places = self._stems, self._places
        known = sorted((word for word in wanted if word in places), key=lambda w: len(places[w]))
        starts = [place for word in known for place in places[word][-_PLACES:]][:_PLACES]
        for place in starts:
            yield set(stems[max(0, place - reach) : place + reach])

    @cached_property
    def _stems(self) -> list[str]:
        return [_stem(word) for text in self._texts for word in _words(text)]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, stem in enumerate(self._stems):
            if stem not in _STOP_WORDS:
                places.setdefault(stem, []).append(place)
        return places

    @cached_property
    def _paths(self) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
        """The words that may be paths, in parts, by their last part."""
        found: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for word in {word for text in self._texts for word in _CHUNK.findall(_bare(text))}:
            parts = _parts(without_line_suffix(word.rstrip(".:!?~")))
            found.setdefault(parts[-1:], set()).add(parts)
        return found

    @cached_property
    def _entities(self) -> frozenset[str]:
        names = {name for text in self._texts for name in self._lexicon.entities(text)}
        return frozenset(names.union(*map(_JOINT.split, names)))

    @cached_property
    def _hashes(self) -> frozenset[str]:
        return frozenset(e[:_HASH_START] for e in self._entities if _HASH.fullmatch(e))


def without_line_suffix(path: str) -> str:
    """Return a path without the lines that are named behind it, as in ``a.py:12-40``."""
    return _PLACE_IN_FILE.sub("", path)


def visible_texts(found: Iterable[Passage], cwd: str | None) -> list[str]:
    """Return what is sent again of passages: all but reasoning, with the paths of files."""
    texts = []
    for passage in found:
        if passage.kind != "thought":
            texts.append(passage.text)
        if passage.kind == "file":
            texts.append(normal_path(passage.name, cwd))
    return texts


def _parts(path: str) -> tuple[str, ...]:
    """Return the names in a path, without the dots that stand for folders or left out ones."""
    return tuple(part for part in path.replace("\\", "/").split("/") if part.strip(".~\u2026"))


def _bare(text: str) -> str:
    """Return a text with blanks for line ends that are written as escapes in front of paths."""
    return _ESCAPE.sub(" ", text)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _stem(word: str) -> str:
    if len(word) <= _MIN_STEM:
        return word
    stem = _ENDING.sub("", word)
    return stem if len(stem) >= _MIN_STEM - 1 else word
