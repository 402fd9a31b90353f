"""When a client auto-compacts, and what it sends beside a conversation."""

import re
from collections.abc import Callable

from compactctl.records import Record
from compactctl.tokens.budget import Budget

Version = tuple[int, ...]

_VERSION = re.compile(r"\d+(?:\.\d+)*", re.ASCII)


class ClientRule(Record):
    """The approximate request size at which a client auto-compacts with its default settings.

    A client measures something slightly different from what it sends next, so the size is
    approximate.

    Attributes:
        format: the format of the client's transcripts.
        name: the client's name.
        formula: how the size follows from the window, in words.
        threshold: the same as a function; may return 0 or less.
        source, date: where the rule is from, and as of when.
        since_version, below_version: the first version with this rule, and with the next one; ()
            for none.
        records_input_window: whether a window that it records holds only input, without the answer.
    """

    format: str
    name: str
    formula: str
    threshold: Callable[[Budget], int]
    source: str
    date: str
    since_version: Version = ()
    below_version: Version = ()
    records_input_window: bool = False

    @property
    def versions(self) -> str:
        """The versions with this rule, in words; "" for all."""
        if self.below_version:
            return f"before {version_text(self.below_version)}"
        return f"{version_text(self.since_version)} and later" if self.since_version else ""

    def threshold_tokens(self, budget: Budget) -> int | None:
        """Return the threshold in tokens; None if the window is too small for one."""
        tokens = self.threshold(budget)
        return tokens if tokens > 0 else None


class UsualTokens(Record):
    """How many tokens a client usually sends, and the range of nine in ten cases."""

    usual: int
    least: int
    most: int


NOTHING = UsualTokens(usual=0, least=0, most=0)
# Beside restored files that the client records, as Claude Code did in three compactions of 2.1.217
# to 2.1.232: -78, 163 and 3,067 tokens.
WRITTEN = UsualTokens(usual=0, least=-1_000, most=4_000)

# Tools that a user may add to what a client sends in nine of ten sessions: the set that Anthropic
# shows in "Introducing advanced tool use on the Claude Developer Platform" (2025-11).
_MAX_USER_TOOLS = 72_000


class ClientSizes(Record):
    """What is known of the sizes of a client's requests, from its source or as measured.

    Attributes:
        rules: when it auto-compacts, by its versions; the newest is the last.
        overhead: its system prompt and tools; None if unknown.
        restored: the files that it restores after a compaction.
        assumed_windows: the windows, in tokens, that it assumes for a model it does not know, each
            with the first version that assumes the next one, () for none; the newest is the last.
            Clients without any learn the window.
    """

    rules: tuple[ClientRule, ...] = ()
    overhead: UsualTokens | None = None
    restored: UsualTokens = NOTHING
    assumed_windows: tuple[tuple[Version, int], ...] = ()

    def rule(self, version: str | None = None) -> ClientRule | None:
        """Return the rule of a version, the newest one if that is unknown; None without rules."""
        return next((rule for rule in self.rules if _applies(rule.below_version, version)), None)

    def assumed_window(self, version: str | None = None) -> int | None:
        """Return the window that it assumes for a model it does not know; None for no such."""
        windows = self.assumed_windows
        return next((window for below, window in windows if _applies(below, version)), None)

    def missing_history(self, overhead: int, first: int | None) -> int:
        """Estimate how many tokens of an overhead are history that is missing in the file.

        An overhead is plausible up to the usual one with a large set of tools; beyond it, all but
        that of the session's first request is missing history. ``first`` is the latter, None if
        unknown. Returns 0 if the usual overhead is unknown.
        """
        if self.overhead is None:
            return 0
        plausible = self.overhead.most + _MAX_USER_TOOLS
        if overhead <= plausible:
            return 0
        return overhead - (self.overhead.usual if first is None or first > plausible else first)


UNKNOWN_SIZES = ClientSizes()


def answer_reserve(budget: Budget, max_reserve: int) -> int:
    """Return the tokens reserved for an answer: the model's longest, at most ``max_reserve``."""
    return min(budget.max_output or max_reserve, max_reserve)


def parse_version(text: str) -> Version:
    """Parse the numbers at the beginning of a version, such as 2.1.21-beta; () without any."""
    match = _VERSION.match(text)
    return tuple(map(int, match[0].split("."))) if match else ()


def version_text(version: Version) -> str:
    """Format a version, such as 2.1.21."""
    return ".".join(map(str, version))


def _applies(below_version: Version, version: str | None) -> bool:
    if not below_version:
        return True
    its_version = parse_version(version or "")
    return bool(its_version) and its_version < below_version
