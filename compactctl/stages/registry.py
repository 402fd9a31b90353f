"""All stages, in the order in which they cost the agent least of what it still needs."""

from difflib import get_close_matches

from compactctl.errors import UsageError
from compactctl.stages import collapse, dedup, microcompact, prune, summarize, truncate
from compactctl.stages.stage import Stage

ALL_STAGES: tuple[Stage, ...] = (
    dedup.STAGE,
    prune.STAGE,
    microcompact.STAGE,
    summarize.STAGE,
    collapse.STAGE,
    truncate.STAGE,
)


def stage_named(name: str) -> Stage:
    """Return the stage of that name.

    Raises:
        UsageError: there is none; the message names those that come close, or all.
    """
    stages = {stage.name: stage for stage in ALL_STAGES}
    if name not in stages:
        close = get_close_matches(name.lower(), stages, n=2)
        hint = f"did you mean {' or '.join(close)}?" if close else f"stages: {', '.join(stages)}"
        raise UsageError(f"there is no stage {name!r}; {hint}")
    return stages[name]
