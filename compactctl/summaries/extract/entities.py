"""Entities: paths, names, ids and errors that an agent may need again verbatim."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from compactctl.records import Record, field
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.words import MAX_CHARS

EntityKind = Literal["url", "id", "path", "error", "symbol", "name"]

# Shorter words are not distinctive.
MIN_CHARS = 4
# Characters of the texts whose entities a lexicon remembers, and words with which it is reused.
_MAX_REMEMBERED_CHARS = 4_000_000
_MAX_REMEMBERED_WORDS = 200_000

# Escapes in quoted code and terminal colors are skipped, else "\\tname" would read as "tname". A
# single escape after a letter is not skipped, since that is a Windows path more often.
_WORD = re.compile(
    r"(?:\\[nrt]){2,}|(?<!\w)\\[nrt]|\[\d[\d;]*m"
    r"|https?://[^\s\x00-\x1f\x7f\"'<>()\[\]{}`\\|^]+|#\d{1,6}\b|[\w./~@+-]{4,}"
)
# The same words in an ASCII text without addresses, in half the time.
_PLAIN_WORD = re.compile(
    r"[A-Za-z0-9_./~@+-]{4,}|(?:\\[nrt]){2,}|(?<!\w)\\[nrt]|\[\d[\d;]*m|#\d{1,6}\b", re.ASCII
)
# Shows that a line was written with escapes, so that one after a letter is an escape, too: an
# escaped quotation mark, or an escape that is not part of a path.
_ESCAPED = re.compile(r"\\(?:\"|(?<![\w:]\\)[nrt]|[nrt](?![\w.]))")
_ESCAPE = re.compile(r"(?<!\\)\\[nrt]")
_EXTENSION = (
    r"py|pyi|ipynb|jsx?|[mc]js|[mc]?ts|tsx|s?css|html?|vue|svelte|go|rs|rb|exs?|heex|erl|java|kt"
    r"|swift|cc?|cpp|hpp?|cs|php|lua|sh|bash|zsh|fish|ps1|sql|mdx?|rst|txt|jsonl?|json5|ya?ml|toml"
    r"|ini|cfg|conf|env|lock|xml|[ct]sv|log|proto|graphql|tf|gradle|dockerfile|service|diff|patch"
    r"|png|jpe?g|svg|pdf|db|sqlite|whl|zip|t?gz|deb|pem|key|crt|plist|dart|parquet|feature"
)
_ERRNO = (
    "E(?:NOENT|ACCES|PERM|EXIST|ISDIR|NOTDIR|ADDRINUSE|CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|INVAL)"
)
COMMIT_ID = re.compile(r"(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}")
# The first match wins. Of each kind less than 3% occur by chance in an unrelated session; command
# line flags were dropped at 7%.
_KINDS: tuple[tuple[EntityKind, str], ...] = (
    ("url", r"https?://.+"),
    ("id", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("id", COMMIT_ID.pattern),
    ("id", r"\d{1,3}(?:\.\d{1,3}){3}"),
    ("id", r"#\d{1,6}|[A-Z][A-Z0-9]{1,9}-\d{1,6}"),
    ("symbol", r"[A-Za-z_][\w.]*/\d{1,2}"),
    ("path", r"(?=.*[A-Za-z])(?!//)(?:[/~]|\.{1,2}/).*[^/]/[^/].*"),
    ("path", r"(?=.*[A-Za-z])[\w@.+-]+/(?:.+/.*|.*_.*|.*\.[A-Za-z]\w{0,5})"),
    ("path", rf"[\w@][\w.@+-]*\.(?:{_EXTENSION})"),
    ("error", rf"[A-Z]\w*(?:Error|Exception|Warning|Failure)|{_ERRNO}|SIG[A-Z]{{3,5}}"),
    ("error", r"(?:TS|CS|C|E|F|W|RUF|PLR|SC)\d{3,5}"),
    ("id", r"(?=.*\d)[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?:\.\d+)?"),
    ("name", r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+"),
    ("symbol", r"(?=.{6})[A-Za-z_]\w*\.[A-Za-z_](?:\w|\.(?!\.))+\w"),
    ("symbol", r"(?=.{5})_*[A-Za-z0-9]+_\w+"),
    ("symbol", r"(?=.{6})[A-Za-z]*[a-z][A-Z]\w*"),
)
_KIND = re.compile("|".join(f"(?P<k{n}>{pattern})" for n, (_, pattern) in enumerate(_KINDS)))
# Words that occur in any session and say nothing about this one: "entities" that sessions of
# unrelated projects share.
_COMMON = """
README.md package.json index.js index.ts main.py setup.py requirements.txt __init__ __init__.py
__main__ __name__ JavaScript TypeScript GitHub PostgreSQL NumPy SQLite TodoWrite file_path
old_string new_string replace_all run_in_background subagent_type tool_use_id activeForm
output_mode in_progress multi-line real-time built-in end-to-end follow-up up-to-date well-known
non-zero pre-existing step-by-step read-only /dev/null /dev/stdin /usr/bin /usr/local
/usr/local/bin /bin/bash /bin/sh origin/main origin/master self.assertEqual os.path sys.exit
console.log application/json text/plain text/html and/or either/or TODO/FIXME ValueError
TypeError KeyError RuntimeError ENOENT EACCES REDACTED_EMAIL
system-reminder files_with_matches general-purpose
"""
_COMMON_WORDS = frozenset(_COMMON.split())

_INPUT_KINDS = frozenset({"result", "file", "reminder", "instruction"})
# demand = FRESH / (1 + age / HALF_LIFE) + OFTEN ln(1 + passages) - INPUT ln(1 + input passages):
# what was used lately, often and by the model itself is needed again. Means of a logistic fit on
# the sessions of seven projects, each left out once (area under the curve 0.76).
#     in 3 passages by the model, age 0:  3.4 + 3.5 = 6.9
#     in 3 passages of input, age 20:     1.7 + 3.5 - 2.3 = 2.9
_FRESH, _HALF_LIFE, _OFTEN, _INPUT = 3.4, 20, 2.5, 1.65
# Increases the contrast between high and low demand.
_POWER = 1.75
# The unit of demand is the mean of this many top entities.
_TOP_ENTITIES = 60


class _Entities(dict[str, str | None]):
    """The entity of each word that was looked up, None for words that are none."""

    def __init__(self, classify: Callable[[str], str | None]) -> None:
        super().__init__()
        self._classify = classify

    def __missing__(self, word: str) -> str | None:
        entity = self[word] = self._classify(word)
        return entity


class Lexicon:
    """Finds entities in texts, classifying each distinct word once.

    Paths inside ``cwd`` become relative to it. Memory grows with the distinct words; the entities
    of the newest texts are remembered, too. Results do not depend on the order of calls.
    """

    def __init__(self, cwd: str | None = None) -> None:
        self._root = cwd.rstrip("/") + "/" if cwd else None
        self._entity_of = _Entities(self._classify)
        self._kinds: dict[str, EntityKind] = {}
        self._entities_in: dict[str, tuple[str, ...]] = {}
        self._chars = 0

    def entities(self, text: str) -> tuple[str, ...]:
        """Return the distinct entities of ``text`` in order of first appearance."""
        entities = self._entities_in.get(text)
        if entities is None:
            self._chars += len(text)
            if self._chars > _MAX_REMEMBERED_CHARS:
                self._entities_in, self._chars = {}, len(text)
            entities = self._entities_in[text] = self._find(text)
        return entities

    @property
    def is_large(self) -> bool:
        """Whether it takes so much memory that it should not outlive its transcript."""
        return len(self._entity_of) > _MAX_REMEMBERED_WORDS

    def _find(self, text: str) -> tuple[str, ...]:
        is_plain = text.isascii() and "://" not in text
        words = (_PLAIN_WORD if is_plain else _WORD).findall(_unescape(text))
        return tuple(dict.fromkeys(filter(None, map(self._entity_of.__getitem__, words))))

    def kind(self, entity: str) -> EntityKind:
        """Return the kind of an entity that ``entities`` has returned before."""
        return self._kinds[entity]

    def _classify(self, word: str) -> str | None:
        entity = word.rstrip("./-+#@~,;:!?*")
        if entity.isalnum() and entity.islower() and not COMMIT_ID.fullmatch(entity):
            # Most words: all other entities have a capital or another character.
            return None
        match = _KIND.fullmatch(entity) if MIN_CHARS <= len(entity) <= MAX_CHARS else None
        if match is None or match.lastgroup is None:
            return None
        kind = _KINDS[int(match.lastgroup[1:])][0]
        if kind == "path":
            entity = self._relative(entity)
        if kind == "url":
            entity = entity.partition("#")[0]
        if entity in _COMMON_WORDS or len(entity) < MIN_CHARS:
            return None
        self._kinds[entity] = kind
        return entity

    def _relative(self, path: str) -> str:
        if self._root:
            path = path.removeprefix(self._root)
        return path.removeprefix("./")


def shared_lexicon(cwd: str | None) -> Lexicon:
    """Return the lexicon of the last call if that was for the same folder.

    Stages, passes and replays look for entities in the same texts again and again.
    """
    if _newest_lexicon(cwd).is_large:
        _newest_lexicon.cache_clear()
    return _newest_lexicon(cwd)


@lru_cache(maxsize=1)
def _newest_lexicon(cwd: str | None) -> Lexicon:
    return Lexicon(cwd)


def _unescape(text: str) -> str:
    """Replace escaped line ends and tabs by blanks in lines that were written with escapes."""
    if "\\" not in text:
        return text
    lines = text.split("\n")
    return "\n".join(_ESCAPE.sub(" ", line) if _ESCAPED.search(line) else line for line in lines)


class EntityUses(Struct):
    """In how many passages each entity occurs.

    Attributes:
        passage_counts: the number of passages.
        not_by_model: the number of those that the model did not write.
        age: model calls since the newest of them.
    """

    passage_counts: Counter[str] = field(default_factory=Counter)
    not_by_model: Counter[str] = field(default_factory=Counter)
    age: dict[str, int] = field(default_factory=dict)

    def add(self, entities: Iterable[str], passage: Passage) -> None:
        """Count the entities of a passage; passages come oldest first."""
        entities = tuple(entities)
        self.passage_counts.update(entities)
        self.age.update(dict.fromkeys(entities, passage.age))
        if passage.kind in _INPUT_KINDS:
            self.not_by_model.update(entities)

    def demand(self, entity: str) -> float:
        """Return the demand for an entity that was added, at least 0."""
        fresh = _FRESH / (1 + self.age[entity] / _HALF_LIFE)
        often = _OFTEN * math.log1p(self.passage_counts[entity])
        as_input = _INPUT * math.log1p(self.not_by_model[entity])
        return max(0.0, fresh + often - as_input)


class EntityDemand(Record):
    """The entities of a conversation that will be needed again.

    Attributes:
        demand: the demand for each entity, reasoning not counted.
        lexicon: finds these entities in a text.
    """

    demand: Mapping[str, float]
    lexicon: Lexicon

    @classmethod
    def of(cls, passages: Sequence[Passage], lexicon: Lexicon) -> "EntityDemand":
        """Measure the demand in all passages but reasoning, which is not sent again."""
        uses = EntityUses()
        for passage in passages:
            if passage.kind != "thought":
                uses.add(lexicon.entities(passage.text), passage)
        demand = {entity: uses.demand(entity) ** _POWER for entity in uses.passage_counts}
        return cls(demand=demand, lexicon=lexicon)

    @property
    def mean_top_demand(self) -> float:
        """The mean demand for the most needed entities, the unit of all values; 1 if none."""
        top = sorted(self.demand.values(), reverse=True)[:_TOP_ENTITIES]
        return sum(top) / len(top) if top else 1.0
