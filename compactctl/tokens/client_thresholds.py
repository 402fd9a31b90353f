"""The approximate request size at which each client auto-compacts with its default settings.

One row for each client, or range of its versions, whose rule is known from its source, its
documentation or its compactions. A client measures something slightly different from what it sends
next, so the size is approximate.
"""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from compactctl.records import Record
from compactctl.tokens.budget import Budget

# Codex records what it is going to fill, 95% of the model's input: 258,400 of 272,000.
CODEX_RECORDED_SHARE = Fraction(95, 100)

_VERSION = re.compile(r"\d+(?:\.\d+)*", re.ASCII)


class ClientRule(Record):
    """A client, and the size at which it auto-compacts.

    Attributes:
        format: the format of its transcripts.
        name: the client's name.
        formula: how the size follows from the window, in words.
        threshold: the same as a function; may return 0 or less.
        source, date: where the rule is from, and as of when.
        below_version: the first version with another rule, which is the next row; () for none.
        records_input_window: whether a window that it records holds only input, without the answer.
    """

    format: str
    name: str
    formula: str
    threshold: Callable[[Budget], int]
    source: str
    date: str
    below_version: tuple[int, ...] = ()
    records_input_window: bool = False

    @property
    def versions(self) -> str:
        """The versions with this rule, in words; "" for all."""
        if self.below_version:
            return f"before {'.'.join(map(str, self.below_version))}"
        earlier = (row for row in CLIENTS if row.format == self.format and row.below_version)
        return next((f"{'.'.join(map(str, row.below_version))} and later" for row in earlier), "")

    def threshold_tokens(self, budget: Budget) -> int | None:
        """Return the threshold in tokens; None if the window is too small for one."""
        tokens = self.threshold(budget)
        return tokens if tokens > 0 else None


def _claude_code_before_2_1_21(budget: Budget) -> int:
    return budget.window - _answer_reserve(budget, 32_000) - 13_000


def _claude_code(budget: Budget) -> int:
    return budget.window - _answer_reserve(budget, 20_000) - 13_000


def _codex(budget: Budget) -> int:
    window = Fraction(budget.window)
    if budget.is_recorded:
        window /= CODEX_RECORDED_SHARE
    return int(window * Fraction(9, 10))


def _copilot_cli(budget: Budget) -> int:
    return budget.window * 8 // 10


def _opencode(budget: Budget) -> int:
    reserve = _answer_reserve(budget, 32_000)
    return budget.window - (min(20_000, reserve) if budget.is_input_only else reserve)


def _cline(budget: Budget) -> int:
    default = max(budget.window - 40_000, budget.window * 8 // 10)
    return {64_000: 37_000, 128_000: 98_000}.get(budget.window, default)


def _roo(budget: Budget) -> int:
    max_output = budget.max_output or 8_192
    return budget.window * 9 // 10 - min(max_output, -(-budget.window // 5))


def _gemini_cli(budget: Budget) -> int:
    return budget.window // 2


def _pi(budget: Budget) -> int:
    return budget.window - 16_384


def _answer_reserve(budget: Budget, max_reserve: int) -> int:
    return min(budget.max_output or max_reserve, max_reserve)


CLIENTS: tuple[ClientRule, ...] = (
    ClientRule(
        format="claude-code",
        name="Claude Code",
        formula="window - longest answer (at most 32,000) - 13,000",
        threshold=_claude_code_before_2_1_21,
        source=(
            "the program of 2.1.19, as published; eight compactions of 2.0.76 to 2.1.20,"
            " seven at 155,258 to 157,925 of 200,000, one at 176,700"
        ),
        date="2026-01",
        below_version=(2, 1, 21),
    ),
    ClientRule(
        format="claude-code",
        name="Claude Code",
        formula="window - longest answer (at most 20,000) - 13,000",
        threshold=_claude_code,
        source=(
            "anthropics/claude-code, changelog of 2.1.21 and issue 31806; eight compactions of"
            " 2.1.37 to 2.1.49, seven at 167,081 to 171,656 of 200,000, one at 178,144; one of"
            " 2.1.219 at 998,659 of 1,000,000; 2.1.331 let reports of 966,500 tokens (Opus 4.8) and"
            " 166,500 (Opus 4.6) pass and compacted at 967,100 and 167,100"
        ),
        date="2026-11",
    ),
    ClientRule(
        format="codex",
        name="Codex",
        formula="90% of the model's input, of which it records 95% as its window",
        threshold=_codex,
        source=(
            "openai/codex, protocol/src/openai_models.rs and issue 40095; seven compactions of"
            " 0.140 to 0.142, seen from 188,493 to 240,937 where 258,400 are recorded"
        ),
        date="2026-08",
        records_input_window=True,
    ),
    ClientRule(
        format="copilot-cli",
        name="Copilot CLI",
        formula="80% of the window; from 95% on it waits for that",
        threshold=_copilot_cli,
        source="GitHub's documentation of Copilot CLI (context management) and of its SDK",
        date="2026-04",
    ),
    ClientRule(
        format="opencode",
        name="OpenCode",
        formula=("window - longest answer (at most 32,000); of a window for input alone - 20,000"),
        threshold=_opencode,
        source="anomalyco/opencode, src/session/overflow.ts and pull request 48813",
        date="2026-09",
    ),
    ClientRule(
        format="cline",
        name="Cline",
        formula="window - 40,000 or 80% of it, which is more; 98,000 of 128,000, 37,000 of 64,000",
        threshold=_cline,
        source=(
            "cline/cline, context-window-utils.ts; its SDK takes 81% of the window (issue 14329)"
        ),
        date="2026-09",
    ),
    ClientRule(
        format="roo",
        name="Roo Code",
        formula="90% of the window - longest answer (at most 20% of the window, else 8,192)",
        threshold=_roo,
        source="RooCodeInc/Roo-Code, src/core/context-management and src/shared/api.ts",
        date="2026-04",
    ),
    ClientRule(
        format="gemini-cli",
        name="Gemini CLI",
        formula="50% of the window",
        threshold=_gemini_cli,
        source="google-gemini/gemini-cli, chatCompressionService.ts of 0.61",
        date="2026-11",
    ),
    ClientRule(
        format="pi",
        name="pi",
        formula="window - 16,384",
        threshold=_pi,
        source="badlogic/pi-mono, compaction.ts of its coding agent, and its documentation",
        date="2026-11",
    ),
)


# The window that a client assumes for a model it does not know, with the first version that assumes
# the next one; () for none. Claude Code does not learn it from the provider: its published programs
# return 200,000 up to 2.1.322 (seen in 2.1.300, 2.1.319, 2.1.321 and 2.1.322; users report the same
# for 2.1.173 and 2.1.259), and 1,000,000 from 2.1.323 on (2.1.324 to 2.1.326 and 2.1.332).
# CLAUDE_CODE_MAX_CONTEXT_TOKENS sets it.
_ASSUMED_WINDOWS: Mapping[str, tuple[tuple[tuple[int, ...], int], ...]] = {
    "claude-code": (((2, 1, 323), 200_000), ((), 1_000_000)),
}


def assumed_window(format_name: str, version: str | None = None) -> int | None:
    """Return the window, in tokens, that a client assumes for a model it does not know.

    None for clients that learn the window; the newest value if the version is unknown.
    """
    rows = _ASSUMED_WINDOWS.get(format_name, ())
    return next((window for below, window in rows if _applies(below, version)), None)


def client_rule_for(format_name: str, version: str | None = None) -> ClientRule | None:
    """Return the rule of the client that writes a format; None if it has none.

    An unknown version has the newest rule.
    """
    rules = (rule for rule in CLIENTS if rule.format == format_name)
    return next((rule for rule in rules if _applies(rule.below_version, version)), None)


def _applies(below_version: tuple[int, ...], version: str | None) -> bool:
    if not below_version:
        return True
    match = _VERSION.match(version or "")
    return match is not None and tuple(map(int, match[0].split("."))) < below_version
