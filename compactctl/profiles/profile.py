"""What a profile holds: which stages run, with which options, when, and down to which size."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compactctl.model.operation import OptionValue
from compactctl.model.summary import FailurePolicy
from compactctl.tokens.budget import DEFAULT_RULE, BudgetRule, TargetSize
from compactctl.tokens.file_budget import DEFAULT_SHARE
from compactctl.tokens.trigger import ALWAYS, NEVER, Situation, Trigger

# Down to where the trigger fires, or every stage whatever the size.
Reach = Literal["trigger", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileStage:
    """One stage of a profile.

    Attributes:
        name: the stage, by the name of ours.
        asked: the name that the system has for it, "" for ours.
        settings: its options.
        why: what the system does there, in a sentence.
        falls_back: it is taken back where it does not get down to the target, and the next stage is
            tried instead.
        target: its own size to reach, where that is more than the profile's; None for that.
    """

    name: str
    asked: str = ""
    settings: Mapping[str, OptionValue] = field(default_factory=dict)
    why: str = ""
    falls_back: bool = False
    target: TargetSize | None = None

    @property
    def called(self) -> str:
        """The name it is reported by."""
        return self.asked or self.name


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
class Background:
    """When a system starts to compact beside the work, as shares of the available input.

    With a warm prompt cache (a tool call was answered in this turn) that is from ``warm`` on, and
    up to ``jitter`` later, so that it is not always at the same place; else from ``cold`` on.
    """

    warm: float
    jitter: float
    cold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A known system's way to compact.

    Attributes:
        name: what ``--profile`` takes.
        title: the system, in words.
        source: where the figures come from.
        differs: where the profile differs from the system on purpose, and why.
        trigger: when the system compacts.
        target: what it compacts down to.
        budget: how the input available to it is computed.
        background: when it compacts beside the work; None when it always waits for it.
        levels: its warning levels, from the least to the worst.
        stages: what it runs, in order.
        reactive: what it runs after an error that the context was too long; () for ``stages``.
        keep_turns: how many newest turns no stage touches; None for compactctl's own protection of
            the newest work.
        keep_steps: how many newest steps that protects beside the newest turn's prompt; None for
            as many as compactctl's own.
        estimator: the counter the system itself estimates with, to be told; "" for an exact one.
        image_tokens: what the system counts every image as; None where it says nothing of it.
        counter: the counter to use; "" for the model's.
        window: the context window to use, such as ``16k``; "" for the model's.
        summarizer: what writes the summaries; "" for the built-in summarizer.
        summarizer_model: the model that it is to use; "" for its own default.
        on_summarizer_failure: what becomes of a stage whose summarizer gives no usable summary.
        file_share: part of the remaining input that file reads may take.
        enabled: False when the user switched compaction off.
        text: the file it was read from.
    """

    name: str
    title: str
    stages: tuple[ProfileStage, ...]
    trigger: Trigger
    target: TargetSize | Reach = "trigger"
    budget: BudgetRule = DEFAULT_RULE
    background: Background | None = None
    levels: tuple[LevelRule, ...] = ()
    reactive: tuple[ProfileStage, ...] = ()
    source: str = ""
    differs: tuple[str, ...] = ()
    keep_turns: int | None = None
    keep_steps: int | None = None
    estimator: str = ""
    image_tokens: int | None = None
    counter: str = ""
    window: str = ""
    summarizer: str = ""
    summarizer_model: str = ""
    on_summarizer_failure: FailurePolicy = "builtin"
    file_share: float = DEFAULT_SHARE
    enabled: bool = True
    text: str = ""

    @property
    def due(self) -> Trigger:
        """When compaction is due: never while the user has switched it off."""
        return self.trigger if self.enabled else NEVER

    def level_at(self, situation: Situation) -> LevelRule:
        """Return the worst warning level that is reached; one called ``none`` when none is."""
        return next((e for e in reversed(self.levels) if e.trigger.fired(situation)), NO_LEVEL)
