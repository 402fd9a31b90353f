"""``profiles`` on a terminal."""

from collections.abc import Iterator, Sequence

from compactctl.commands.reference.profiles import ProfilesResult
from compactctl.history.protection import RECENT_STEPS
from compactctl.model.operation import OptionValue
from compactctl.profiles.profile import LevelRule, Profile, ProfileStage
from compactctl.reports.rendering.screen import Accent, Fact, Facts, ScreenItem
from compactctl.reports.rendering.tables import table, text
from compactctl.reports.rendering.text import one_line
from compactctl.tokens.budget import BudgetRule, TargetSize

_REACHES = {
    "trigger": "below the trigger",
    "all": "every stage runs, whatever the size",
}


def profiles_terminal(result: ProfilesResult) -> Iterator[ScreenItem]:
    """Yield what to print: a row per profile, or everything about the one asked for."""
    return _explained(result.profiles[0]) if result.named else _listed(result.profiles)


def _listed(profiles: Sequence[Profile]) -> Iterator[ScreenItem]:
    columns = (
        text("Profile"),
        text("Compacts when", "end", least=14),
        text("Stages", "end", least=34, spare=1),
        text("What it is", "end", least=24, spare=2),
    )
    rows = [
        (
            each.name,
            str(each.trigger),
            ", ".join(dict.fromkeys(stage.called for stage in each.stages)),
            one_line(each.title),
        )
        for each in profiles
    ]
    yield table(columns, rows)
    yield ""
    yield "explain one with: compactctl profiles NAME"


def _explained(profile: Profile) -> Iterator[ScreenItem]:
    """Yield what a profile does, when, and where the figures are from."""
    yield Accent(f"{one_line(profile.name)}: {one_line(profile.title)}", "bold")
    yield Facts(tuple(_profile_facts(profile)))
    yield ""
    yield Accent("stages", "bold")
    yield Facts(tuple(row for stage in profile.stages for row in _stage_facts(stage)))
    if profile.reactive:
        yield ""
        yield Accent("stages after an overflow", "bold")
        yield Facts(tuple(row for stage in profile.reactive for row in _stage_facts(stage)))
    if profile.differs:
        yield ""
        yield Facts(tuple(_differences(profile)))


def _stage_facts(stage: ProfileStage) -> Iterator[Fact]:
    taken_back = "; taken back if it does not fit" if stage.falls_back else ""
    yield Fact(stage.called, one_line(stage.why) + taken_back)
    if stage.target is not None:
        yield Fact("", f"down to {_target_text(stage.target)}")
    if stage.settings:
        yield Fact(
            "", ", ".join(f"{name} {_option_text(each)}" for name, each in stage.settings.items())
        )


def _profile_facts(profile: Profile) -> Iterator[Fact]:
    if not profile.enabled:
        yield Fact("switched off", "compaction is never due")
    yield Fact("compacts when", str(profile.trigger))
    yield Fact("down to", _target_text(profile.target))
    yield Fact("output reserve", _reserve(profile.budget))
    if profile.budget.usable != 1:
        yield Fact("safety margin", f"{float(profile.budget.usable):.1%} of the rest is used")
    for name, value in (("window", profile.window), ("counter", profile.counter)):
        if value:
            yield Fact(name, one_line(value))
    yield Fact("leaves alone", _left_alone(profile))
    if profile.estimator:
        yield Fact("counts itself with", f"{profile.estimator}; see --counter")
    if profile.image_tokens is not None:
        yield Fact("an image is", f"{profile.image_tokens:,} tokens, whatever its size")
    yield from _levels(profile.levels)
    if profile.source:
        yield Fact("source", one_line(profile.source))


def _levels(levels: Sequence[LevelRule]) -> Iterator[Fact]:
    for index, level in enumerate(levels):
        yield Fact("" if index else "levels", f"{one_line(level.name)} when {level.trigger}")


def _differences(profile: Profile) -> Iterator[Fact]:
    for index, line in enumerate(profile.differs):
        yield Fact("" if index else "differs in", one_line(line))


def _target_text(target: TargetSize | str) -> str:
    if isinstance(target, str):
        return _REACHES[target]
    if target.unit == "ratio":
        return f"{target.value:g} of the available input"
    return f"{target.value:,.0f} tokens"


def _left_alone(profile: Profile) -> str:
    if profile.keep_turns is not None:
        newest = f"the newest {profile.keep_turns:,} turns and " if profile.keep_turns else ""
        return f"{newest}the newest message, beside what its stages keep"
    count = profile.keep_steps or RECENT_STEPS
    return f"the newest turn's prompt and its newest {'step' if count == 1 else f'{count:,} steps'}"


def _reserve(rule: BudgetRule) -> str:
    known = "the longest answer of the model" if rule.longest_answer else ""
    plain = (
        f"{rule.percent} % of the window" if rule.reserve is None else f"{rule.reserve:,} tokens"
    )
    text_ = f"{known}, {plain} if it is not known" if known else plain
    return text_ if rule.most is None else f"{text_}, at most {rule.most:,} tokens"


def _option_text(value: OptionValue) -> str:
    if isinstance(value, tuple):
        return one_line(" ".join(value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    return (
        one_line(f'"{value}"') if isinstance(value, str) and " " in value else one_line(str(value))
    )
