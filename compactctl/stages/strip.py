"""Strip: replace long texts in old tool results and in the arguments of old calls."""

import re
from collections.abc import Iterator
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts, parts_of_tools, tool_pairs
from compactctl.history.reads import stub_targets
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Part, ToolCallPart, ToolResultPart
from compactctl.records import Record
from compactctl.stages.support.replacement import (
    ARGUMENT_PLACEHOLDER,
    LONG_TEXT,
    Rewrite,
    count_saved_tokens,
    iter_results,
    propose_rewrites,
    replace_long_texts,
    without_newest,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "strip"
CHARS = "{chars}"
StripUnit = Literal["messages", "turns", "steps", "results"]


class StripOptions(Record):
    """How to strip; the defaults are those of Codebuddy."""

    keep_recent: int = option(4, "Number of the newest messages, turns, steps or results to keep.")
    unit: StripUnit = option("messages", "Unit of ``keep_recent``.")
    over: int = option(
        LONG_TEXT, "Maximum characters of a result, or of a text in a call's arguments."
    )
    args: bool = option(
        True,
        "Also replace longer texts in the arguments of calls; keys and shorter values are kept.",
    )
    protect_tools: tuple[str, ...] = option((), "Never change calls or results of these tools.")
    placeholder: str = option(
        "[Tool result truncated — originally {chars} chars]",
        "Text that replaces a result; {chars} is the number of characters it had.",
    )
    args_placeholder: str = option(
        ARGUMENT_PLACEHOLDER, "Text that replaces a text in the arguments."
    )


def propose(view: ConversationView, meter: Meter, options: StripOptions) -> Proposal | SkippedStage:
    """Propose to replace every long result and argument that is not among the newest."""
    rewrites = tuple(_rewrites(view, meter, options))
    if not rewrites:
        reason = (
            f"nothing over {options.over:,} characters"
            f" before the newest {options.keep_recent} {options.unit}"
        )
        return SkippedStage(
            stage=NAME, reason=reason, detail="see --strip-over and --strip-keep-recent"
        )
    note = f"tool results and calls stripped: {len(rewrites):,}"
    return propose_rewrites(view, rewrites, stage=NAME, options=options, note=note)


def _rewrites(view: ConversationView, meter: Meter, options: StripOptions) -> Iterator[Rewrite]:
    needed, recent = stub_targets(view.messages, cwd=view.cwd), _recent_parts(view, options)
    protected = parts_of_tools(view.messages, options.protect_tools)
    reason = f"older than the newest {options.keep_recent} {options.unit}"
    for part_index, part in iter_parts(view.messages):
        if part_index in needed or part_index in recent or part_index in protected:
            continue
        text = _new_text(part, options)
        saved = 0 if text is None else count_saved_tokens(view, meter, part_index, text)
        if text is not None and saved:
            yield Rewrite(part_index=part_index, text=text, tokens_saved=saved, reason=reason)


def _new_text(part: Part, options: StripOptions) -> str | None:
    """Return the text that replaces a part's content, None when it stays."""
    match part:
        case ToolResultPart() if len(part.text) > options.over and not _is_stripped(part, options):
            return options.placeholder.replace(CHARS, str(len(part.text)))
        case ToolCallPart() if options.args:
            return replace_long_texts(part, options.over, options.args_placeholder)
        case _:
            return None


def _is_stripped(part: ToolResultPart, options: StripOptions) -> bool:
    pattern = re.escape(options.placeholder).replace(re.escape(CHARS), r"\d+")
    return re.fullmatch(pattern, part.text) is not None


def _recent_parts(view: ConversationView, options: StripOptions) -> frozenset[PartIndex]:
    """Return the parts of the newest ``keep_recent`` units; a call is as recent as its result."""
    part_indices = frozenset(part_index for part_index, _ in iter_parts(view.messages))
    unit, keep = options.unit, options.keep_recent
    if unit == "messages":
        first = len(view.messages) - keep
        return frozenset(part_index for part_index in part_indices if part_index.message >= first)
    if unit != "results":
        return part_indices.difference(without_newest(view, tuple(part_indices), unit, keep))
    results = tuple(part_index for part_index, _ in iter_results(view))
    newest = set(results).difference(without_newest(view, results, unit, keep))
    pairs = tool_pairs(view.messages)
    return frozenset(newest | {pairs[result] for result in newest if result in pairs})


STAGE = Stage(
    name=NAME,
    title="replace long texts in old tool results and in the arguments of old calls",
    options=StripOptions,
    propose=propose,
    example=StripOptions(keep_recent=1, over=20),
    codebuddy_tier=1,
)
