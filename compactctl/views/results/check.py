"""Whether a compaction is due, and why."""

from collections.abc import Iterator
from typing import Any

from compactctl.clients.registry import format_of
from compactctl.commands.inspect.check import CheckResult
from compactctl.profiles.profile import NO_LEVEL
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.tokens.budget import utilization
from compactctl.views.encode import (
    doubt_fields,
    encoded,
    fit_fields,
    measure_fields,
    verdict_fields,
)
from compactctl.views.facts import base_text, counter_text, warning_lines
from compactctl.views.faults import advice_text, fault_rows, fault_table, place_text, verdict
from compactctl.views.islands import continue_command
from compactctl.views.other_systems import CHECK, foreign_records
from compactctl.views.results.request import REFUSED, answer_lines
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem, TextStyle, Verbatim
from compactctl.views.terminal.text import (
    one_line,
    path_name,
    plural,
    share_text,
    typed_command,
)

_STYLES: dict[str, TextStyle] = {
    "warning": "yellow",
    "critical": "bold red",
    "over": "bold red",
    "blocked": "bold red",
}


def check_terminal(result: CheckResult) -> Iterator[ScreenItem]:
    """Yield the output: the answer first, then the reasons."""
    if result.refused:
        yield from _refusal(result)
        yield ""
    answer = "compaction is not due"
    if result.is_unsure:
        answer = "unknown whether compaction is due"
    elif result.due:
        answer = f"compaction is due: {_fired_text(result)}"
    style: TextStyle = "bold red" if result.due or result.is_unsure else "bold"
    if result.due or not result.refused:
        yield Accent(f"{path_name(result.stats.options.input.reference)}: {answer}", style)
    yield from answer_lines(result.stats)
    yield from _others(result)
    if result.due or not result.refused:
        yield ""
        yield Facts(tuple(_facts(result)))
        accent = _STYLES.get(result.level.name, "")
        yield from (Accent(line, accent) for line in result.text.splitlines())


def _refusal(result: CheckResult) -> Iterator[ScreenItem]:
    """Yield what will be refused, and the command that fixes it."""
    path = result.stats.options.input.reference
    yield Accent(f"{path_name(path)}: {verdict(result.refused)}", "bold red")
    yield ""
    yield fault_table(result.refused)
    yield ""
    if any(fault.rule.repaired for fault in result.refused) and path != STANDARD_STREAM:
        where, command = "in a new session", "compactctl rescue"
        if result.is_fixed_in_place:
            where, command = "in place", "compactctl rescue --in-place"
        yield Verbatim(f"fix {where}: {typed_command(command, path)}")
    advice = dict.fromkeys(advice_text(fault, path) for fault in result.refused)
    yield from map(Verbatim, filter(None, advice))


def _others(result: CheckResult) -> Iterator[str | Verbatim]:
    """Yield what may be refused, and what the client fixes by itself, in a line each."""
    client = format_of(result.stats.transcript.format).client or "the client"
    path = result.stats.options.input.reference
    for fault in result.stats.faults:
        if fault.is_refused:
            continue
        what = f"{place_text(fault)}: {one_line(fault.text)}"
        if fault.island is not None:
            command = continue_command(path, fault.island)
            yield Verbatim(f"{what}; continue there: {command}" if command else what)
            continue
        since = f" since {fault.fixed_since}" if fault.fixed_since else ""
        fixes = f"{client} fixes it{since}"
        outcome = "may be refused" if fault.fixed_since is None else fixes
        yield f"{what} ({fault.rule.id}); {outcome}"


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
        **verdict_fields(result.stats.judgment),
        "estimatedInputTokens": usage.tokens,
        **doubt_fields(result.stats),
        "usageRatio": usage.ratio,
        "percentLeft": usage.percent_left,
        "level": result.level.name,
        "fit": fit_fields(measured, usage.tokens),
        "message": result.text or None,
        "willBeRefused": bool(result.refused),
        "faults": fault_rows(result.stats.faults),
        "messageCount": situation.messages,
        "turnCount": situation.turns,
        "breakdown": encoded(result.breakdown),
    }
    return {**document, "as": foreign_records(CHECK, {**document, **_reached(result.level.name)})}


def check_messages(result: CheckResult) -> Iterator[str]:
    """Return the lines for standard error: warnings."""
    return warning_lines((*result.stats.transcript.warnings, *result.stats.warnings))


def _fired_text(result: CheckResult) -> str:
    """Return the condition that fired, and in how many conversations if there are several."""
    if not result.fired_in:
        return REFUSED if result.stats.is_refused else "the context is larger than the window"
    text = result.trigger.describe(result.fired_in[0])
    count = result.stats.counts.conversations
    return text if count <= 1 else f"{text}, in {len(result.fired_in):,} of {count:,} conversations"


def _facts(result: CheckResult) -> Iterator[Fact]:
    measured, counts = result.stats.measure, result.situation
    limits = measured.limits
    share = share_text(result.stats.usage.ratio)
    yield Fact("trigger", str(result.trigger))
    yield Fact("ratio", f"{share} of {limits.base_tokens:,} tokens, {base_text(limits)}")
    yield Fact("profile", f"{one_line(result.profile.name)}: {one_line(result.profile.title)}")
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
