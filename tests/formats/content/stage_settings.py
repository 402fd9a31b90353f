"""Every stage, with low limits, so that each has something to do in a small file."""

from collections.abc import Mapping

from compactctl.model.operation import OptionValue
from compactctl.stages.registry import ALL_STAGES

SETTINGS: Mapping[str, Mapping[str, OptionValue]] = {
    "drop": {"tools": ("Read", "web_search")},
    "prune": {"min_savings": 1, "protect_tokens": 200},
    "strip": {"keep_recent": 1, "over": 20, "args": True},
    "limit": {"max_tokens": 20},
    "images": {"max_images": 0},
    "microcompact": {"keep_recent": 2, "tools": ("*",)},
    "partial": {"keep_recent": 2},
    "chunk": {"keep_recent": 2, "min_messages": 2},
    "plain": {"keep_recent": 2},
    "summarize": {"keep_min": 2, "min_messages": 2},
    "recursive": {"keep_events": 3, "snap": "none", "min_keep_turns": 0},
    "prioritize": {"weights": ("assistant=1", "tool_results=2")},
    "window": {"max": 3, "snap": "none", "min_keep_turns": 0},
    "truncate": {"keep_first": 1},
}
# The ends of a span have to be named, and none of these files holds what is never sent.
_LEFT_OUT = {"span", "unsent"}
STAGES: tuple[tuple[str, ...], ...] = (
    (),
    *((stage.name,) for stage in ALL_STAGES if stage.name not in _LEFT_OUT),
)
