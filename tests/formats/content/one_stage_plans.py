"""Plans of one stage each, for small files that hold every kind of content."""

from compactctl.stages.registry import ALL_STAGES

# The ends of a span have to be named, and none of these files holds what is never sent.
_LEFT_OUT = {"span", "unsent"}
STAGES: tuple[tuple[str, ...], ...] = (
    (),
    *((stage.name,) for stage in ALL_STAGES if stage.name not in _LEFT_OUT),
)
