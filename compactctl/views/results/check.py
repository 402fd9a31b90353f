"""Whether a compaction is due, and why."""

from collections.abc import Iterator
from typing import Any

from compactctl.commands.inspect.check import CheckResult
from compactctl.profiles.profile import NO_LEVEL
from compactctl.tokens.budget import utilization
from compactctl.tokens.fit import fit_of
from compactctl.views.encode import doubt_fields, encoded, fit_fields, measure_fields
from compactctl.views.facts import (
    TOO_LARGE,
    base_text,
    counter_text,
    doubt_facts,
    fit_facts,
    health_facts,
    request_text,
    unread_facts,
)
from compactctl.views.other_systems import CHECK, foreign_records
from compactctl.views.results.stats import REFUSED, conversation_facts, request_name, stats_messages
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem, TextStyle
from compactctl.views.terminal.text import one_line, path_name, plural, share_text

_STYLES: dict[str, TextStyle] = {
    "warning": "yellow",
    "critical": "bold red",
    "over": "bold red",
    "blocked": "bold red",
}


def check_terminal(result: CheckResult) -> Iterator[ScreenItem]:
    """Yield the output: the answer first, then the reasons."""
    answer = "compaction is not due"
    if result.is_unsure:
        answer = "whether compaction is due is unknown"
    elif result.due:
        answer = f"compaction is due: {_fired_text(result)}"
    style: TextStyle = "bold red" if result.due or result.is_unsure else "bold"
    yield Accent(f"{path_name(result.stats.options.input.path)}: {answer}", style)
    yield Facts(tuple(_facts(result)))
    accent = _STYLES.get(result.level.name, "")
    yield from (Accent(line, accent) for line in result.text.splitlines())


def check_document(result: CheckResult) -> dict[str, Any]:
    """Return the answer, the size as in ``stats``, and the level."""
    measured, situation = result.stats.measure, result.situation
    usage = utilization(result.stats.usage.tokens, measured.budget.available)
    document = {
        "schema": "compactctl.check/2",
        "path": result.stats.options.input.path,
        "format": result.stats.transcript.format,
        "profile": result.profile.name,
        **measure_fields(measured),
        "trigger": str(result.trigger),
        "fired": result.fired or None,
        "shouldCompact": result.due,
        "conversationCount": result.stats.counts.conversations,
        "dueConversationCount": len(result.fired_in),
        "withinBudget": usage.tokens <= usage.available,
        "estimatedInputTokens": usage.tokens,
        **doubt_fields(result.stats),
        "usageRatio": usage.ratio,
        "percentLeft": usage.percent_left,
        "level": result.level.name,
        "fit": fit_fields(measured, usage.tokens),
        "message": result.text or None,
        "messageCount": situation.messages,
        "turnCount": situation.turns,
        "breakdown": encoded(result.breakdown),
    }
    return {**document, "as": foreign_records(CHECK, {**document, **_reached(result.level.name)})}


def check_messages(result: CheckResult) -> Iterator[str]:
    """Return the lines for standard error: those of ``stats``."""
    return stats_messages(result.stats)


def _fired_text(result: CheckResult) -> str:
    """Return the condition that fired, and in how many conversations if there are several."""
    if not result.fired_in:
        return REFUSED
    text = result.trigger.describe(result.fired_in[0])
    count = result.stats.counts.conversations
    return text if count <= 1 else f"{text}, in {len(result.fired_in):,} of {count:,} conversations"


def _facts(result: CheckResult) -> Iterator[Fact]:
    usage = result.stats.usage
    measured = result.stats.measure
    share = f"{share_text(usage.ratio)} of {base_text(measured.limits)}"
    yield Fact("profile", f"{one_line(result.profile.name)}: {one_line(result.profile.title)}")
    yield Fact("trigger", str(result.trigger))
    verdict = "" if fit_of(usage.tokens, measured.limits).fits else f": {TOO_LARGE}"
    size = result.stats.size
    name = request_name(result.stats)
    unread = result.stats.unread
    yield from unread_facts(unread)
    yield Fact(name, f"{request_text(usage.tokens, size.unreported or unread)}, {share}{verdict}")
    yield from doubt_facts(size)
    yield from conversation_facts(result.stats)
    yield from fit_facts(measured, usage.tokens)
    yield from health_facts(result.stats.health)
    counts = result.situation
    yield Fact("history", f"{plural(counts.turns, 'turn')}, {plural(counts.messages, 'message')}")
    yield Fact("counted with", counter_text(measured))
    yield Fact("level", result.level.name, _STYLES.get(result.level.name, ""))


def _reached(level: str) -> dict[str, bool]:
    """Return which levels are reached, as booleans."""
    return {
        "isAboveWarning": level != NO_LEVEL.name,
        "isAboveError": level in ("critical", "over", "blocked"),
        "isBlocking": level in ("over", "blocked"),
    }
