"""Checks whether the next request will be accepted: what is refused, and its size."""

from compactctl.asks import MAY, POLICY, ask
from compactctl.commands.client_sessions.new_session import becomes_new_session
from compactctl.commands.inspect.stats import StatsOptions, StatsResult, stats
from compactctl.commands.reading.session_title import stored_session
from compactctl.errors import NotUnderstoodError
from compactctl.history.faults import Fault, refused_among
from compactctl.profiles.profile import LevelRule, Profile
from compactctl.profiles.registry import DEFAULT_PROFILE, builtin_profile
from compactctl.records import Record
from compactctl.store.client_folders import this_machine
from compactctl.tokens.trigger import NEVER, Trigger, TriggerInput, parse_trigger

# The reason if no condition of the trigger holds: the provider refused the request, or it is larger
# than the window.
_REFUSED, _OVER = "refused", "over the window"


class CheckOptions(Record):
    """What to measure, and the trigger to check."""

    stats: StatsOptions
    trigger: Trigger | None = ask(
        None,
        "When to compact: a share of --fail-base (80%), tokens (60k), 'turns>20', or conditions "
        'joined with "or". [default: that of the profile, 0.8]',
        POLICY,
        MAY,
        metavar="WHEN",
        parse=parse_trigger,
    )


class RequestBreakdown(Record):
    """The tokens of the next request in NeuroLink's five parts, which add up to it."""

    system_prompt: int
    conversation_history: int
    current_prompt: int
    tool_definitions: int
    file_attachments: int


class CheckResult(Record):
    """Whether the next request will be accepted, and whether compaction is due.

    ``breakdown`` is that of the largest request, whose usage ``stats`` has, and ``level`` the worst
    warning level it reaches. The trigger is checked for each conversation; ``fired_in`` are those
    in which it fires, largest first.
    """

    profile: Profile
    trigger: Trigger
    fired_in: tuple[TriggerInput, ...]
    level: LevelRule
    breakdown: RequestBreakdown
    stats: StatsResult

    @property
    def situation(self) -> TriggerInput:
        """The measurements of the largest request that a trigger compares."""
        return self.stats.next_request.situation(self.stats.measure.limits)

    @property
    def text(self) -> str:
        """The profile's text for the level."""
        return _text(self.level, self.stats)

    @property
    def due(self) -> bool:
        """Whether compaction is due in any conversation.

        It is after a request was refused as too large, and over the window, whatever the trigger;
        only "never" is taken at its word, but for the refused request.
        """
        is_over = self.stats.judgment.is_over and self.trigger != NEVER
        return bool(self.fired_in) or self.stats.is_refused or is_over

    @property
    def refused(self) -> tuple[Fault, ...]:
        """What the next request, or the session, will be refused for."""
        return refused_among(self.stats.faults)

    @property
    def is_fixed_in_place(self) -> bool:
        """Whether a rescue has to replace the session, which cannot become a new one."""
        source = self.stats.options.input
        is_stored = stored_session(source.path, this_machine()) is not None
        return is_stored and not becomes_new_session(source.path, source.limits)

    @property
    def is_unsure(self) -> bool:
        """Whether compaction is not due by what was read, but much text could not be read."""
        return bool(self.stats.unread) and not self.due

    @property
    def exit_code(self) -> int:
        """4 if too little was read to know, 1 if it is due or will be refused, else 0."""
        is_lost = bool(self.stats.transcript.unread.lost)
        if self.is_unsure and (is_lost or not self.refused):
            return NotUnderstoodError.exit_code
        return int(self.due or bool(self.refused))

    @property
    def fired(self) -> str:
        """The condition that holds, "" if none does."""
        if self.fired_in:
            return self.trigger.matched_condition(self.fired_in[0])
        if self.stats.is_refused:
            return _REFUSED
        return _OVER if self.due else ""


def check(options: CheckOptions) -> CheckResult:
    """Measure a transcript and check the trigger. Raises as ``stats`` does."""
    result = stats(options.stats)
    profile = options.stats.measure.profile or builtin_profile(DEFAULT_PROFILE)
    trigger = options.trigger or profile.effective_trigger
    limits = result.measure.limits
    situations = [request.situation(limits) for request in result.requests]
    fired_in = [situation for situation in situations if trigger.matched_condition(situation)]
    return CheckResult(
        profile=profile,
        trigger=trigger,
        fired_in=tuple(sorted(fired_in, key=lambda situation: -situation.tokens)),
        level=profile.level_at(result.next_request.situation(limits)),
        breakdown=_breakdown(result),
        stats=result,
    )


def _text(level: LevelRule, result: StatsResult) -> str:
    usage = result.usage
    # Rounded half up, as JavaScript's toFixed does.
    percent = int(usage.ratio * 100 + 0.5)
    values = {
        "{percent}": f"{percent}",
        "{percent_of_window}": f"{int(usage.tokens / result.measure.budget.window * 100 + 0.5)}",
        "{left}": f"{usage.percent_left}",
        "{used}": f"{usage.tokens:,}",
        "{available}": f"{usage.available:,}",
    }
    text = level.text
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _breakdown(result: StatsResult) -> RequestBreakdown:
    """Return the parts of the largest request.

    The conversation is the remainder. If a counting error makes the other parts larger than the
    whole, the system prompt is reduced first, since the least of it is counted.
    """
    request, size = result.next_request, result.size
    parts = result.categories
    system = parts["system prompt"] + size.overhead + result.extras.system_frame
    parts_in_order = (
        result.extras.prompt,
        result.extras.files,
        parts["tool definitions"],
        system,
    )
    remaining, part_tokens = max(0, request.tokens), []
    for part in parts_in_order:
        part_tokens.append(min(part, remaining))
        remaining -= part_tokens[-1]
    prompt, attached, tools, system = part_tokens
    return RequestBreakdown(
        system_prompt=system,
        conversation_history=remaining,
        current_prompt=prompt,
        tool_definitions=tools,
        file_attachments=attached,
    )
