"""Whether a transcript needs compaction, and how near it is."""

from dataclasses import dataclass

from compactctl.commands.inspect.stats import StatsOptions, StatsResult, stats
from compactctl.errors import NotUnderstoodError
from compactctl.profiles.profile import LevelRule, Profile
from compactctl.profiles.registry import DEFAULT_PROFILE, builtin_profile
from compactctl.tokens.trigger import Trigger, TriggerInput

# What holds where no condition of the trigger does.
_REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What to measure, and the trigger that is asked, None for that of the profile."""

    stats: StatsOptions
    trigger: Trigger | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBreakdown:
    """The tokens of the next request in the five parts that NeuroLink names; they add up to it."""

    system_prompt: int
    conversation_history: int
    current_prompt: int
    tool_definitions: int
    file_attachments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Whether compaction is due.

    ``breakdown`` is of the largest request, the one that ``stats`` has the usage of, and ``level``
    the worst warning level that it reaches. The trigger is asked of each conversation: it fires in
    ``fired_in``, the largest first.
    """

    profile: Profile
    trigger: Trigger
    fired_in: tuple[TriggerInput, ...]
    level: LevelRule
    breakdown: RequestBreakdown
    stats: StatsResult

    @property
    def situation(self) -> TriggerInput:
        """What a trigger looks at in the largest request."""
        return self.stats.next_request.situation(self.stats.measure.limits)

    @property
    def text(self) -> str:
        """What the profile says at the level that is reached."""
        return _text(self.level, self.stats)

    @property
    def due(self) -> bool:
        """Whether compaction is due, in any conversation: a refused request is, at any count."""
        return bool(self.fired_in) or self.stats.is_refused

    @property
    def is_unsure(self) -> bool:
        """Whether compaction is not due by what was read, and much text was not read."""
        return bool(self.stats.unread) and not self.due

    @property
    def exit_code(self) -> int:
        """1 where compaction is due, 4 where too little was read to tell, else 0."""
        return NotUnderstoodError.exit_code if self.is_unsure else int(self.due)

    @property
    def fired(self) -> str:
        """The condition that holds, "" when none does."""
        if self.fired_in:
            return self.trigger.matched_condition(self.fired_in[0])
        return _REFUSED if self.due else ""


def check(options: CheckOptions) -> CheckResult:
    """Measure a transcript and ask the trigger. Raises what ``stats`` raises."""
    found = stats(options.stats)
    profile = options.stats.measure.profile or builtin_profile(DEFAULT_PROFILE)
    trigger = options.trigger or profile.effective_trigger
    limits = found.measure.limits
    situations = [request.situation(limits) for request in found.requests]
    fired_in = [each for each in situations if trigger.matched_condition(each)]
    return CheckResult(
        profile=profile,
        trigger=trigger,
        fired_in=tuple(sorted(fired_in, key=lambda each: -each.tokens)),
        level=profile.level_at(found.next_request.situation(limits)),
        breakdown=_breakdown(found),
        stats=found,
    )


def _text(level: LevelRule, found: StatsResult) -> str:
    usage = found.usage
    # Rounded half up, as JavaScript's toFixed does.
    percent = int(usage.ratio * 100 + 0.5)
    values = {
        "{percent}": f"{percent}",
        "{percent_of_window}": f"{int(usage.tokens / found.measure.budget.window * 100 + 0.5)}",
        "{left}": f"{usage.percent_left}",
        "{used}": f"{usage.tokens:,}",
        "{available}": f"{usage.available:,}",
    }
    text = level.text
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _breakdown(found: StatsResult) -> RequestBreakdown:
    """Return the parts of the largest request.

    The conversation is what remains beside the others; where they come to more than the whole, by
    an error of the count, the system prompt is less, of which the least is counted.
    """
    request, size = found.next_request, found.size
    parts = found.categories
    system = parts["system prompt"] + size.overhead + found.extras.system_frame
    given = (found.extras.prompt, found.extras.files, parts["tool definitions"], system)
    left, taken = max(0, request.tokens), []
    for part in given:
        taken.append(min(part, left))
        left -= taken[-1]
    prompt, attached, tools, system = taken
    return RequestBreakdown(
        system_prompt=system,
        conversation_history=left,
        current_prompt=prompt,
        tool_definitions=tools,
        file_attachments=attached,
    )
