"""A profile: which stages run, with which options, when, and down to which size."""

from collections.abc import Mapping
from typing import Literal

from compactctl.model.bounds import Share
from compactctl.model.operation import OptionValue
from compactctl.model.summary import FailurePolicy, LabelStyle
from compactctl.records import Record, field
from compactctl.tokens.budget import DEFAULT_BUDGET_RULE, BudgetRule, TargetSize
from compactctl.tokens.file_budget import DEFAULT_SHARE
from compactctl.tokens.models.system_windows import NO_SYSTEM_WINDOWS, SystemWindows
from compactctl.tokens.trigger import ALWAYS, NEVER, Trigger, TriggerInput

# "trigger" compacts down to the size at which the trigger fires; "all" runs every stage, whatever
# the size.
TargetMode = Literal["trigger", "all"]


class ProfileStage(Record):
    """One stage of a profile.

    Attributes:
        name: the name of the stage in compactctl.
        system_name: the system's name for it; "" if it is the same.
        options: its options.
        explanation: what the system does in this stage, in a sentence.
        falls_back: whether to try the next stage instead if this one misses the target.
        always: whether it runs even if the context is within the target.
        target: its own target, if that is larger than the profile's; None for the profile's.
    """

    name: str
    system_name: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    explanation: str = ""
    falls_back: bool = False
    always: bool = False
    target: TargetSize | None = None

    @property
    def display_name(self) -> str:
        """The name used in reports."""
        return self.system_name or self.name


class LevelRule(Record):
    """A warning level: its name, when it is reached, and the warning.

    ``text`` may contain ``{percent}``, ``{percent_of_window}``, ``{left}``, ``{used}`` and
    ``{available}``.
    """

    name: str
    trigger: Trigger
    text: str = ""


NO_LEVEL = LevelRule(name="none", trigger=ALWAYS)


class BackgroundTrigger(Record):
    """When a system starts to compact in the background, as shares of the available input.

    With a warm prompt cache (a tool call was answered in this turn), it starts at ``warm`` or up to
    ``jitter`` later, so that the point varies; otherwise at ``cold``.
    """

    warm: Share
    jitter: Share
    cold: Share


class Change(Record):
    """A setting that a profile changes in the one it is based on.

    Attributes:
        key: the setting, with dots between its parts, e.g. ``prune.min_savings``.
        value: its value here.
        base_value: its value in the base; None for the default.
    """

    key: str
    value: object
    base_value: object


class ProfileOrigin(Record):
    """Where a profile comes from.

    Attributes:
        base: the name of the profile that it extends; "" if it stands alone.
        changes: what it changes in its base.
        source: the documentation of its figures.
        differences: where the profile differs from the system on purpose, and why.
        file_text: the text of its file.
    """

    base: str = ""
    changes: tuple[Change, ...] = ()
    source: str = ""
    differences: tuple[str, ...] = ()
    file_text: str = ""


class ProfileProtection(Record):
    """The newest work that no stage touches.

    Attributes:
        turns: the number of newest turns to protect; None for compactctl's default protection.
        steps: the number of newest steps that the default protection covers, besides the prompt of
            the newest turn; None for compactctl's default.
    """

    turns: int | None = None
    steps: int | None = None


class ProfileCounting(Record):
    """How to count tokens with a profile.

    Attributes:
        counter: the counter to use; "" for the model's.
        estimator: the system's own estimator, which is only reported; "" for an exact count.
        image_tokens: the tokens that the system assumes for an image; None if unknown.
        document_bytes: the bytes of a document per token; 0 counts its text or pages.
        window: the context window to use, e.g. ``16k``; "" for the model's.
        windows: the windows of models that the system documents.
    """

    counter: str = ""
    estimator: str = ""
    image_tokens: int | None = None
    document_bytes: int = 0
    window: str = ""
    windows: SystemWindows = NO_SYSTEM_WINDOWS


class ProfileSummarizer(Record):
    """Who writes the summaries.

    Attributes:
        name: the summarizer; "" for the built-in one.
        model: the model it uses; "" for its default.
        on_failure: what to do if the summarizer returns no usable summary.
        label_style: how its prompts mark roles.
        may_be_unrelated: whether a summary is usable that names nothing from what it replaces.
    """

    name: str = ""
    model: str = ""
    on_failure: FailurePolicy = "builtin"
    label_style: LabelStyle = "xml"
    may_be_unrelated: bool = False


class Profile(Record):
    """How a system compacts.

    Attributes:
        name: its name, as for ``--profile``.
        title: the name of the system, or a short description.
        stages: the stages that it runs, in order.
        trigger: when the system compacts.
        target: the size that it compacts down to.
        budget: how its available input is computed.
        background: when it compacts in the background; None if it never does.
        levels: its warning levels, in ascending order.
        overflow_stages: the stages after a context overflow; () for ``stages``.
        optional_stages: the options of stages that it only runs on request.
        protection: the newest work that no stage touches.
        counting: how to count tokens.
        summarizer: who writes the summaries.
        origin: where the profile comes from.
        file_share: the share of the remaining input that file reads may take.
        by_model: the profile for models whose name begins with the key.
        enabled: False if the user switched compaction off.
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
    optional_stages: tuple[ProfileStage, ...] = ()
    protection: ProfileProtection = ProfileProtection()
    counting: ProfileCounting = ProfileCounting()
    summarizer: ProfileSummarizer = ProfileSummarizer()
    origin: ProfileOrigin = ProfileOrigin()
    file_share: float = DEFAULT_SHARE
    by_model: Mapping[str, "Profile"] = field(default_factory=dict)
    enabled: bool = True

    @property
    def effective_trigger(self) -> Trigger:
        """The trigger, or one that never fires if the user switched compaction off."""
        return self.trigger if self.enabled else NEVER

    def for_model(self, name: str) -> "Profile":
        """Return the profile for a model by the longest beginning of its name that has one."""
        prefixes = (prefix for prefix in self.by_model if name.startswith(prefix))
        return self.by_model.get(max(prefixes, key=len, default=""), self)

    def level_at(self, situation: TriggerInput) -> LevelRule:
        """Return the highest warning level that is reached, ``NO_LEVEL`` if none is."""
        return next(
            (
                level
                for level in reversed(self.levels)
                if level.trigger.matched_condition(situation)
            ),
            NO_LEVEL,
        )
