"""What a caller chooses, as keywords: the options of the commands under their own names."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, get_type_hints

from compactctl.commands.planning.plan import PlanOptions, stage_list
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.errors import UsageError, suggestion
from compactctl.history.protection import ProtectOptions
from compactctl.profiles.library import load_profile
from compactctl.profiles.profile import Profile
from compactctl.profiles.read import read_stage
from compactctl.tokens.budget import parse_share, parse_target
from compactctl.tokens.models.windows import parse_window


class Measuring(TypedDict, total=False):
    """How to measure. Whatever is left out is found out from the transcript.

    Keys:
        model: name of the model, such as ``"gpt-4.1"``.
        window: its context window in tokens, ``128_000`` or ``"128k"``.
        max_tokens: tokens kept for the answer.
        counter: name of a token counter, as ``compactctl stats --counter`` takes it.
    """

    model: str
    window: int | str
    max_tokens: int
    counter: str


class Choosing(Measuring, total=False):
    """What to compact down to and how, beside how to measure.

    Keys:
        target: size of the next request: tokens (``60_000``, ``"60k"``) or a share of the window
            (``0.6``, ``"60%"``).
        keep: the share of each conversation's tokens to keep, instead of ``target``: ``0.3`` or
            ``"30%"``.
        stages: names of the stages to run, in this order, instead of the profile's.
        stage_options: options of stages by their names: ``{"prune": {"protect_tokens": 20_000}}``.
        profile: name of a profile or path of one, in place of the default one.
        keep_turns: the number of newest turns to leave alone.
        pins: ids of messages to leave alone, or regular expressions that their texts match.
        protect_tools: tools whose calls and results are left alone.
    """

    target: float | str
    keep: float | str
    stages: Sequence[str]
    stage_options: Mapping[str, Mapping[str, Any]]
    profile: str | Path
    keep_turns: int
    pins: Iterable[str]
    protect_tools: Iterable[str]


def check_names(choices: Mapping[str, object], of: type, called: str) -> None:
    """Raise TypeError, as Python does, for a keyword that a function does not take."""
    names = get_type_hints(of)
    for name in choices:
        if name not in names:
            hint = suggestion(name, names, "")
            what = f"{called}() got an unexpected keyword argument {name!r}"
            raise TypeError(f"{what}; {hint}" if hint else what)


def measure_options(chosen: Choosing | Measuring) -> MeasureOptions:
    """Return how to measure. Raises UsageError for what means nothing."""
    window = chosen.get("window")
    return MeasureOptions(
        model=chosen.get("model"),
        window=None if window is None else parse_window(str(window)),
        max_tokens=chosen.get("max_tokens"),
        counter=chosen.get("counter"),
        profile=_profile(chosen),
    )


def plan_options(chosen: Choosing) -> PlanOptions:
    """Return what to run down to which size. Raises UsageError for what means nothing."""
    target, keep = chosen.get("target"), chosen.get("keep")
    return PlanOptions(
        stages=stage_list(",".join(_names(chosen, "stages"))) if "stages" in chosen else (),
        profile=_profile(chosen),
        target=None if target is None else parse_target(str(target)),
        keep=None if keep is None else parse_share(str(keep)),
        settings={
            name: read_stage({**settings, "stage": name}).settings
            for name, settings in chosen.get("stage_options", {}).items()
        },
    )


def protect_options(chosen: Choosing) -> ProtectOptions:
    """Return what to leave alone."""
    return ProtectOptions(
        keep_turns=chosen.get("keep_turns"),
        pins=_names(chosen, "pins"),
        tools=_names(chosen, "protect_tools"),
    )


def _names(chosen: Choosing, key: Literal["stages", "pins", "protect_tools"]) -> tuple[str, ...]:
    """Return a list of names. Raises UsageError for one text, whose letters would be the names."""
    names = chosen.get(key, ())
    if isinstance(names, str):
        raise UsageError(f"{key}={names!r}: pass a list, as in {key}=[{names!r}]")
    return tuple(names)


def _profile(chosen: Choosing | Measuring) -> Profile | None:
    name = chosen.get("profile")
    return None if name is None else load_profile(str(name))
