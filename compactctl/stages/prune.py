"""Prune: clear old tool results, keep the newest."""

from collections.abc import Iterator
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, result_tools
from compactctl.history.reads import stub_targets
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import ToolResultPart
from compactctl.model.operation import neurolink_schema
from compactctl.records import Record
from compactctl.stages.support.replacement import (
    ProtectedUnit,
    Rewrite,
    count_saved_tokens,
    iter_results,
    propose_rewrites,
    without_newest,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "prune"
Crossing = Literal["keep", "clear"]


class PruneOptions(Record):
    """How to prune; the defaults are those of OpenCode and NeuroLink."""

    protect_tokens: int = option(40_000, "Keep this many tokens of the newest tool results.")
    crossing: Crossing = option(
        "keep",
        "What to do with the result that straddles ``protect_tokens``: keep it (NeuroLink) or "
        "clear it (OpenCode).",
    )
    protect: int = option(
        0,
        "Number of the newest turns, steps or results to keep whatever their size, not counted "
        "in ``protect_tokens``. OpenCode keeps 2 turns.",
    )
    unit: ProtectedUnit = option("turns", "Unit of ``protect``.")
    min_savings: int = option(20_000, "Do nothing if fewer tokens would be saved.")
    protect_tools: tuple[str, ...] = option(
        ("skill",), "Never clear results of these tools, nor count them in ``protect_tokens``."
    )
    only_tools: tuple[str, ...] = option(
        (), "Clear results of these tools only; others do not use up ``protect_tokens``."
    )
    keep_errors: bool = option(False, "Keep results of failed calls.")
    stop_at_summary: bool = option(False, "Clear nothing before the newest summary.")
    placeholder: str = option("[Tool result cleared]", "Text that replaces a cleared result.")


def propose(view: ConversationView, meter: Meter, options: PruneOptions) -> Proposal | SkippedStage:
    """Propose to clear every tool result that is older than the newest ones."""
    rewrites = tuple(_rewrites(view, meter, options))
    saved = sum(rewrite.tokens_saved for rewrite in rewrites)
    if not rewrites:
        reason = f"nothing to clear before the newest {options.protect_tokens:,} tokens of results"
        return SkippedStage(
            stage=NAME, reason=reason, detail="lower it with --prune-protect-tokens"
        )
    if saved < options.min_savings:
        reason = f"would save {saved:,} tokens, below the minimum of {options.min_savings:,}"
        return SkippedStage(stage=NAME, reason=reason, detail="lower it with --prune-min-savings")
    note = f"tool results cleared: {len(rewrites):,}"
    return propose_rewrites(view, rewrites, stage=NAME, options=options, note=note)


def _rewrites(view: ConversationView, meter: Meter, options: PruneOptions) -> Iterator[Rewrite]:
    needed = stub_targets(view.messages, cwd=view.cwd)
    reason = f"older than the newest {options.protect_tokens:,} tokens of tool results"
    results = dict(iter_results(view))
    for part_index in _outside_window(view, meter, options, results):
        saved = count_saved_tokens(view, meter, part_index, options.placeholder)
        if (
            saved
            and part_index not in needed
            and not (options.keep_errors and results[part_index].has_failed)
        ):
            yield Rewrite(
                part_index=part_index, text=options.placeholder, tokens_saved=saved, reason=reason
            )


def _outside_window(
    view: ConversationView,
    meter: Meter,
    options: PruneOptions,
    results: dict[PartIndex, ToolResultPart],
) -> Iterator[PartIndex]:
    used = 0
    for part_index in reversed(_prunable_results(view, options, tuple(results))):
        size = 0 if results[part_index].cleared else meter.part(results[part_index])
        # protect_tokens 100, newest results of 60 and 50 tokens: the second one crosses the line.
        # "keep" keeps it (60 < 100), "clear" clears it (60 + 49 >= 100), and both all older ones.
        position = used if options.crossing == "keep" else used + max(0, size - 1)
        if position >= options.protect_tokens:
            yield part_index
            used = options.protect_tokens
        else:
            used += size


def _prunable_results(
    view: ConversationView, options: PruneOptions, part_indices: tuple[PartIndex, ...]
) -> tuple[PartIndex, ...]:
    """Return the results that may be cleared or count towards ``protect_tokens``, oldest first."""
    tools = result_tools(view.messages)
    protected_tools = {tool.casefold() for tool in (*options.protect_tools, *view.protection.tools)}
    only_tools = {tool.casefold() for tool in options.only_tools}
    start = _after_newest_summary(view) if options.stop_at_summary else 0
    return tuple(
        part_index
        for part_index in without_newest(view, part_indices, options.unit, options.protect)
        if tools[part_index].casefold() not in protected_tools
        and (not only_tools or tools[part_index].casefold() in only_tools)
        and part_index.message >= start
    )


def _after_newest_summary(view: ConversationView) -> int:
    """Return the index after the newest summary, 0 without one."""
    summaries = (index for index, message in enumerate(view.messages) if message.origin.is_summary)
    return max(summaries, default=-1) + 1


STAGE = Stage(
    name=NAME,
    title="clear old tool results, keep the newest",
    options=PruneOptions,
    propose=propose,
    example=PruneOptions(protect_tokens=30, min_savings=0),
    foreign_schemas=(neurolink_schema("PruneResult", pruned="applied", tokensSaved="tokensSaved"),),
)
