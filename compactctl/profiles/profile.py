"""What a profile holds: which stages run, with which options, when, and down to which size."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compactctl.model.operation import OptionValue
from compactctl.model.summary import FailurePolicy
from compactctl.tokens.budget import DEFAULT_BUDGET_RULE, BudgetRule, TargetSize
from compactctl.tokens.file_budget import DEFAULT_SHARE
from compactctl.tokens.trigger import ALWAYS, NEVER, Trigger, TriggerInput

# Down to where the trigger fires, or every stage whatever the size.
TargetMode = Literal["trigger", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileStage:
    """One stage of a profile.

    Attributes:
        name: the stage, by the name of ours.
        system_name: the name that the system has for it, "" for ours.
        options: its options.
        why: what the system does there, in a sentence.
        falls_back: it is taken back where it does not get down to the target, and the next stage is
            tried instead.
        target: its own size to reach, where that is more than the profile's; None for that.
    """

    name: str
    system_name: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    why: str = ""
    falls_back: bool = False
    target: TargetSize | None = None

    @property
    def display_name(self) -> str:
        """The name it is reported by."""
        return self.system_name or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRule:
    """A warning level: its name, when it is reached, and what is then said.

    In ``text``, ``{percent}``, ``{percent_of_window}``, ``{left}``, ``{used}`` and ``{available}``
    are filled in.
    """

    name: str
    trigger: Trigger
    text: str = ""


NO_LEVEL = LevelRule(name="none", trigger=ALWAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundTrigger:
    """When a system starts to compact beside the work, as shares of the available input.

    With a warm prompt cache (a tool call was answered in this turn) that is from ``warm`` on, and
    up to ``jitter`` later, so that it is not always at the same place; else from ``cold`` on.
    """

    warm: float
    jitter: float
    cold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOrigin:
    """Where a profile comes from.

    Attributes:
        source: where the figures come from.
        differences: where the profile differs from the system on purpose, and why.
        file_text: the file it was read from.
    """

    source: str = ""
    differences: tuple[str, ...] = ()
    file_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileKeeps:
    """The newest work that no stage touches.

    Attributes:
        turns: how many newest turns; None for compactctl's own protection of the newest work.
        steps: how many newest steps that protects beside the newest turn's prompt; None for as
            many as compactctl's own.
    """

    turns: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileCounting:
    """What a profile is counted with.

    Attributes:
        counter: the counter to use; "" for the model's.
        estimator: the counter the system itself estimates with, to be told; "" for an exact one.
        image_tokens: what the system counts every image as; None where it says nothing of it.
        window: the context window to use, such as ``16k``; "" for the model's.
    """

    counter: str = ""
    estimator: str = ""
    image_tokens: int | None = None
    window: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSummarizer:
    """What writes the summaries.

    Attributes:
        name: the summarizer; "" for the built-in one.
        model: the model that it is to use; "" for its own default.
        on_failure: what becomes of a stage whose summarizer gives no usable summary.
    """

    name: str = ""
    model: str = ""
    on_failure: FailurePolicy = "builtin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A known system's way to compact.

    Attributes:
        name: what ``--profile`` takes.
        title: the system, in words.
        trigger: when the system compacts.
        target: what it compacts down to.
        budget: how the input available to it is computed.
        background: when it compacts beside the work; None when it always waits for it.
        levels: its warning levels, from the least to the worst.
        stages: what it runs, in order.
        overflow_stages: what it runs after an error that the context was too long; () for
            ``stages``.
        file_share: part of the remaining input that file reads may take.
        enabled: False when the user switched compaction off.
    """

    name: str
    title: str
    stages: tuple[ProfileStage, ...]
    trigger: Trigger
    target: TargetSize | TargetMode = "trigger"
    budget: BudgetRule = DEFAULT_BUDGET_RULE
    background: BackgroundTrigger | None = None
    levels: tuple[LevelRule, ...] = ()
    overflow_stages: tuple[ProfileStage, ...] = ()
    keeps: ProfileKeeps = ProfileKeeps()
    counting: ProfileCounting = ProfileCounting()
    summarizer: ProfileSummarizer = ProfileSummarizer()
    origin: ProfileOrigin = ProfileOrigin()
    file_share: float = DEFAULT_SHARE
    enabled: bool = True

    @property
    def effective_trigger(self) -> Trigger:
        """When compaction is due: never while the user has switched it off."""
        return self.trigger if self.enabled else NEVER

    def level_at(self, situation: TriggerInput) -> LevelRule:
        """Return the worst warning level that is reached; one called ``none`` when none is."""
        return next(
            (
                level
                for level in reversed(self.levels)
                if level.trigger.matched_condition(situation)
            ),
            NO_LEVEL,
        )
