"""Limit: truncate oversized tool results, keep their beginning and end."""

from collections.abc import Iterator

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, result_tools
from compactctl.history.reads import stub_targets
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import ToolResultPart
from compactctl.model.numbers import exact
from compactctl.records import Record
from compactctl.stages.support.cutting import (
    HEAD_RATIO,
    NOTICE,
    Direction,
    OutputLimits,
    TruncationStyle,
    truncate,
)
from compactctl.stages.support.replacement import (
    Rewrite,
    count_saved_tokens,
    iter_results,
    propose_rewrites,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "limit"


class LimitOptions(Record):
    """How large a tool result may be; NeuroLink's bytes and lines, Copilot Chat's share."""

    max_tokens: int = option(0, "Maximum tokens per result; 0 means no limit.")
    share: float = option(
        0.5, "Maximum share of the context window per result (0 to 1); 0 means no limit."
    )
    max_bytes: int = option(51_200, "Maximum UTF-8 bytes per result; 0 means no limit.")
    max_lines: int = option(2_000, "Maximum lines per result; 0 means no limit.")
    direction: Direction = option(
        "both", 'Part to keep: the beginning ("head"), the end ("tail"), or some of each ("both").'
    )
    head_ratio: float = option(
        HEAD_RATIO, 'With "both", share of the kept text that comes from the beginning (0 to 1).'
    )
    tools: tuple[str, ...] = option((), "Truncate results of these tools only; case is ignored.")
    protect_tools: tuple[str, ...] = option(("skill",), "Never truncate results of these tools.")
    marker: str = option(
        NOTICE,
        "Line that marks the cut; ``{original}``, ``{kept}`` and ``{omitted}`` are sizes in bytes.",
    )


def propose(view: ConversationView, meter: Meter, options: LimitOptions) -> Proposal | SkippedStage:
    """Propose to truncate every tool result that exceeds a limit."""
    rewrites = tuple(_rewrites(view, meter, options))
    if not rewrites:
        return SkippedStage(
            stage=NAME,
            reason="no tool result that can be truncated is over a limit",
            detail="see --limit-max-tokens, --limit-max-bytes and --limit-max-lines",
        )
    note = f"tool results cut: {len(rewrites):,}"
    return propose_rewrites(view, rewrites, stage=NAME, options=options, note=note)


def _rewrites(view: ConversationView, meter: Meter, options: LimitOptions) -> Iterator[Rewrite]:
    limits = _limits(view, options)
    style = TruncationStyle(
        direction=options.direction, head_ratio=options.head_ratio, notice=options.marker
    )
    for part_index, part in _candidates(view, options):
        limit = limits.exceeded_limit(part.text, meter.text)
        if not limit:
            continue
        output = truncate(part.text, limits, style, meter.text_uncached)
        saved = count_saved_tokens(view, meter, part_index, output.content)
        if saved:
            reason = f"larger than {limit}"
            yield Rewrite(
                part_index=part_index, text=output.content, tokens_saved=saved, reason=reason
            )


def _limits(view: ConversationView, options: LimitOptions) -> OutputLimits:
    share = int((view.window or 0) * exact(options.share))
    tokens = min(filter(None, (options.max_tokens, share)), default=0)
    return OutputLimits(max_bytes=options.max_bytes, max_lines=options.max_lines, max_tokens=tokens)


def _candidates(
    view: ConversationView, options: LimitOptions
) -> Iterator[tuple[PartIndex, ToolResultPart]]:
    """Yield the results that may be truncated: not those with media, which would be lost."""
    tools = result_tools(view.messages)
    selected_tools = {tool.casefold() for tool in options.tools}
    protected_tools = {tool.casefold() for tool in options.protect_tools}
    needed = stub_targets(view.messages, cwd=view.cwd)
    for part_index, part in iter_results(view):
        name = tools[part_index].casefold()
        is_selected = (not selected_tools or name in selected_tools) and name not in protected_tools
        if is_selected and not part.media and part_index not in needed:
            yield part_index, part


STAGE = Stage(
    name=NAME,
    title="truncate oversized tool results, keep their beginning and end",
    options=LimitOptions,
    propose=propose,
    example=LimitOptions(max_tokens=15),
)
