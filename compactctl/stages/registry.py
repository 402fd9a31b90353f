"""All stages, those first that cost the agent the least of what it still needs."""

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
    """Return a stage by its name or an alias from another system's documents.

    Raises:
        UsageError: there is none; the message suggests similar names, or lists all.
    """
    by_name = {stage.name: stage for stage in ALL_STAGES}
    stage = by_name.get(canonical_name(name))
    if stage is None:
        names = (*by_name, *ALIASES)
        hint = suggestion(name.lower(), names, f"stages: {', '.join(by_name)}", max_names=2)
        raise UsageError(f"no stage named {name!r}; {hint}")
    return stage
