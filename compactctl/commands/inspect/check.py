"""Whether a transcript needs compaction, and how near it is."""

from dataclasses import dataclass, field

from compactctl.commands.inspect.stats import StatsOptions, StatsResult, stats
from compactctl.commands.sizing.extra_content import ExtraOptions
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.profiles.library import DEFAULT_PROFILE, built_in
from compactctl.profiles.profile import LevelRule, Profile
from compactctl.store.files.limits import READ_LIMITS, ReadLimits
from compactctl.tokens.trigger import Situation, Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What to check, against which profile or trigger."""

    path: str
    format: str | None = None
    limits: ReadLimits = READ_LIMITS
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    extras: ExtraOptions = field(default_factory=ExtraOptions)
    trigger: Trigger | None = None
    strict: bool = False


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

    ``fired`` is the condition that holds, "" when none does; ``level`` the worst warning level
    that is reached and ``text`` what the profile says then.
    """

    profile: Profile
    trigger: Trigger
    fired: str
    level: str
    text: str
    situation: Situation
    breakdown: RequestBreakdown
    stats: StatsResult

    @property
    def due(self) -> bool:
        """Whether compaction is due."""
        return bool(self.fired)


def check(options: CheckOptions) -> CheckResult:
    """Measure a transcript and ask the trigger. Raises what ``stats`` raises."""
    found = stats(
        StatsOptions(
            path=options.path,
            format=options.format,
            limits=options.limits,
            measure=options.measure,
            extras=options.extras,
            strict=options.strict,
            top=0,
        )
    )
    profile = options.measure.profile or built_in(DEFAULT_PROFILE)
    trigger = options.trigger or profile.due
    situation = Situation(
        tokens=found.usage.tokens,
        available=found.usage.available,
        turns=sum(message.starts_turn for message in found.transcript.effective),
        messages=len(found.transcript.effective),
        window=found.measure.budget.window,
    )
    level = profile.level_at(situation)
    return CheckResult(
        profile=profile,
        trigger=trigger,
        fired=trigger.fired(situation),
        level=level.name,
        text=_text(level, found),
        situation=situation,
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
    categories, size = found.breakdown.categories, found.size
    prompt, attached = found.extra_prompt, found.extra_files
    system = categories["system prompt"] + size.overhead + found.extra_system_frame
    tools = categories["tool definitions"]
    rest = found.usage.tokens - system - tools - prompt - attached
    return RequestBreakdown(
        system_prompt=system,
        conversation_history=rest,
        current_prompt=prompt,
        tool_definitions=tools,
        file_attachments=attached,
    )
