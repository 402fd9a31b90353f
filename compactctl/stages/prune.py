"""Prune: clear old tool results, keep the newest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, result_tools
from compactctl.history.reads import stub_targets
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import ToolResultPart
from compactctl.model.operation import neurolink_schema
from compactctl.stages.support.replacement import (
    ProtectedUnit,
    Rewrite,
    older_than_newest,
    results_in,
    rewrite_proposal,
    tokens_saved,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "prune"
Crossing = Literal["keep", "clear"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneOptions:
    """How to prune; the defaults are those of OpenCode and NeuroLink."""

    protect_tokens: int = option(40_000, "Tokens of the newest tool results to keep.")
    crossing: Crossing = option(
        "keep",
        "Whether the result that crosses the line of ``protect_tokens`` is kept whole, as "
        "NeuroLink does, or cleared, as OpenCode does.",
    )
    protect: int = option(
        0,
        "How many of the newest turns, steps or results stay whatever their size, without using up "
        "``protect_tokens``; OpenCode protects 2 turns.",
    )
    unit: ProtectedUnit = option("turns", "What ``protect`` counts.")
    min_savings: int = option(20_000, "Do nothing when fewer tokens would be saved.")
    protect_tools: tuple[str, ...] = option(
        ("skill",), "Tools whose results stay and do not use up ``protect_tokens``."
    )
    only_tools: tuple[str, ...] = option(
        (), "When given, the results of all other tools stay in the same way."
    )
    keep_errors: bool = option(False, "Results of calls that failed stay.")
    stop_at_summary: bool = option(False, "Nothing before the newest summary is cleared.")
    placeholder: str = option("[Tool result cleared]", "What stands in place of a cleared result.")


def propose(view: ConversationView, meter: Meter, options: PruneOptions) -> Proposal | Skipped:
    """Propose to clear every tool result that is older than the newest ones."""
    rewrites = tuple(_clearings(view, meter, options))
    saved = sum(rewrite.tokens_saved for rewrite in rewrites)
    if not rewrites:
        reason = f"nothing to clear before the newest {options.protect_tokens:,} tokens of results"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --prune-protect-tokens")
    if saved < options.min_savings:
        reason = f"would save {saved:,} tokens, below the minimum of {options.min_savings:,}"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --prune-min-savings")
    note = f"tool results cleared: {len(rewrites):,}"
    return rewrite_proposal(view, rewrites, stage=NAME, options=options, note=note)


def _clearings(view: ConversationView, meter: Meter, options: PruneOptions) -> Iterator[Rewrite]:
    needed = stub_targets(view.messages, cwd=view.cwd)
    reason = f"older than the newest {options.protect_tokens:,} tokens of tool results"
    parts = dict(results_in(view))
    for place in _outside_window(view, meter, options, parts):
        saved = tokens_saved(view, meter, place, options.placeholder)
        if saved and place not in needed and not (options.keep_errors and parts[place].is_error):
            yield Rewrite(
                part_index=place, text=options.placeholder, tokens_saved=saved, reason=reason
            )


def _outside_window(
    view: ConversationView,
    meter: Meter,
    options: PruneOptions,
    parts: dict[PartIndex, ToolResultPart],
) -> Iterator[PartIndex]:
    kept = 0
    for place in reversed(_counted(view, options, tuple(parts))):
        size = 0 if parts[place].cleared else meter.part(parts[place])
        # With "clear", the first result that does not fit opens the window for none behind it.
        reached = kept if options.crossing == "keep" else kept + max(0, size - 1)
        if reached >= options.protect_tokens:
            yield place
            kept = options.protect_tokens
        else:
            kept += size


def _counted(
    view: ConversationView, options: PruneOptions, places: tuple[PartIndex, ...]
) -> tuple[PartIndex, ...]:
    """Return the results that may be cleared or use up the window, oldest first."""
    tools = result_tools(view.messages)
    protected = {tool.casefold() for tool in (*options.protect_tools, *view.protection.tools)}
    only = {tool.casefold() for tool in options.only_tools}
    start = _after_summary(view) if options.stop_at_summary else 0
    return tuple(
        place
        for place in older_than_newest(view, places, options.unit, options.protect)
        if tools[place].casefold() not in protected
        and (not only or tools[place].casefold() in only)
        and place.message >= start
    )


def _after_summary(view: ConversationView) -> int:
    """Return the index behind the newest summary, 0 without one."""
    summaries = (index for index, message in enumerate(view.messages) if message.origin.is_summary)
    return max(summaries, default=-1) + 1


STAGE = Stage(
    name=NAME,
    title="clear old tool results, keep the newest",
    options=PruneOptions,
    propose=propose,
    foreign_schemas=(neurolink_schema("PruneResult", pruned="applied", tokensSaved="tokensSaved"),),
)
