"""All stages, in the order in which they cost the agent least of what it still needs."""

from typing import Any

from compactctl.errors import UsageError, suggestion
from compactctl.stages import (
    chunk,
    collapse,
    dedup,
    distill,
    drop,
    images,
    limit,
    microcompact,
    partial,
    plain,
    prioritize,
    prune,
    recursive,
    repair,
    shorten,
    span,
    strip,
    summarize,
    truncate,
    unsent,
    window,
)
from compactctl.stages.aliases import ALIASES, canonical_name
from compactctl.stages.support.stage import Stage

ALL_STAGES: tuple[Stage[Any], ...] = (
    repair.STAGE,
    unsent.STAGE,
    drop.STAGE,
    dedup.STAGE,
    prune.STAGE,
    strip.STAGE,
    limit.STAGE,
    images.STAGE,
    microcompact.STAGE,
    distill.STAGE,
    summarize.STAGE,
    partial.STAGE,
    chunk.STAGE,
    plain.STAGE,
    recursive.STAGE,
    prioritize.STAGE,
    collapse.STAGE,
    window.STAGE,
    span.STAGE,
    truncate.STAGE,
    shorten.STAGE,
)


def stage_named(name: str) -> Stage[Any]:
    """Return the stage of that name, be it ours or that of another system's document.

    Raises:
        UsageError: there is none; the message names those that come close, or all.
    """
    stages = {stage.name: stage for stage in ALL_STAGES}
    found = stages.get(canonical_name(name))
    if found is None:
        known = (*stages, *ALIASES)
        hint = suggestion(name.lower(), known, f"stages: {', '.join(stages)}", most=2)
        raise UsageError(f"there is no stage {name!r}; {hint}")
    return found
