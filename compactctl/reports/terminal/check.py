"""``check`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.inspect.check import CheckResult
from compactctl.reports.rendering.screen import Accent, Fact, Facts, ScreenItem, TextStyle
from compactctl.reports.rendering.text import one_line, path_name, plural, share_text
from compactctl.reports.rendering.wording import base_text, counter_text
from compactctl.reports.terminal.sections.doubts import (
    doubt_facts,
    health_facts,
    request_text,
    unread_facts,
)
from compactctl.reports.terminal.sections.fit import TOO_LARGE, fit_facts
from compactctl.reports.terminal.stats import (
    REFUSED,
    conversation_facts,
    request_name,
    stats_messages,
)
from compactctl.tokens.fit import fit_of

_STYLES: dict[str, TextStyle] = {
    "warning": "yellow",
    "critical": "bold red",
    "over": "bold red",
    "blocked": "bold red",
}


def check_terminal(result: CheckResult) -> Iterator[ScreenItem]:
    """Yield what to print: the answer first, then what it rests on."""
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


def check_messages(result: CheckResult) -> Iterator[str]:
    """Return the lines for standard error: those of ``stats``."""
    return stats_messages(result.stats)


def _fired_text(result: CheckResult) -> str:
    """Return what fired, and in how many conversations where there are several."""
    if not result.fired_in:
        return REFUSED
    told = result.trigger.told(result.fired_in[0])
    count = result.stats.counts.conversations
    return told if count <= 1 else f"{told}, in {len(result.fired_in):,} of {count:,} conversations"


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
