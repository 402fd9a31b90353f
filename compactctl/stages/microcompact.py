"""Microcompact: clear results of routine tools, keep the newest few."""

from collections.abc import Iterator, Sequence

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, tool_pairs
from compactctl.history.reads import stub_targets
from compactctl.history.tool_names import does_work
from compactctl.history.turns import find_turns
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import ToolCallPart
from compactctl.records import Record, replace
from compactctl.stages.support.replacement import (
    ARGUMENT_PLACEHOLDER,
    LONG_TEXT,
    ProtectedUnit,
    Rewrite,
    count_saved_tokens,
    propose_rewrites,
    replace_long_texts,
    without_newest,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "microcompact"
ANY_TOOL = "*"


class MicrocompactOptions(Record):
    """How to microcompact; the defaults are those of agent-code."""

    keep_recent: int = option(
        5, "Number of the newest results, turns or steps whose results to keep, at least 1."
    )
    unit: ProtectedUnit = option(
        "results",
        "Unit of ``keep_recent``. In a session with fewer turns than that, results count instead "
        "of turns.",
    )
    tools: tuple[str, ...] = option(
        (),
        "Clear results of these tools only; case is ignored. By default, of tools that read, "
        'edit, write or search files or run commands; "*" means every tool.',
    )
    exclude_tools: tuple[str, ...] = option(
        (), "Never clear results of these tools, nor count them among the newest."
    )
    clear_inputs: bool = option(
        False,
        "Also replace texts of more than 200 characters in the arguments of calls whose results "
        "are cleared; shorter values and all keys are kept.",
    )
    min_savings: int = option(0, "Do nothing if fewer tokens would be saved.")
    placeholder: str = option("[Old tool result cleared]", "Text that replaces a cleared result.")


def propose(
    view: ConversationView, meter: Meter, options: MicrocompactOptions
) -> Proposal | SkippedStage:
    """Propose to clear the results of compactable tools that are not among the newest."""
    keep = max(1, options.keep_recent)
    if options.unit == "turns" and len(find_turns(view.messages)) < keep:
        # Nothing would be older than the newest turns, however long the only one is.
        options = replace(options, unit="results")
    results = tuple(_result_rewrites(view, meter, options, keep))
    inputs = tuple(_argument_rewrites(view, meter, options, keep)) if options.clear_inputs else ()
    rewrites = (*results, *inputs)
    if not rewrites:
        reason = f"nothing to clear before the newest {keep} {options.unit}"
        return SkippedStage(stage=NAME, reason=reason, detail="see --microcompact-keep-recent")
    saved = sum(rewrite.tokens_saved for rewrite in rewrites)
    if saved < options.min_savings:
        reason = f"would save {saved:,} tokens, below the minimum of {options.min_savings:,}"
        return SkippedStage(
            stage=NAME, reason=reason, detail="lower it with --microcompact-min-savings"
        )
    note = f"tool results cleared: {len(results):,}"
    note += f", inputs: {len(inputs):,}" if inputs else ""
    return propose_rewrites(view, rewrites, stage=NAME, options=options, note=note)


def _result_rewrites(
    view: ConversationView, meter: Meter, options: MicrocompactOptions, keep: int
) -> Iterator[Rewrite]:
    needed = stub_targets(view.messages, cwd=view.cwd)
    for part_index in without_newest(view, _compactable(view, options), options.unit, keep):
        saved = count_saved_tokens(view, meter, part_index, options.placeholder)
        if saved and part_index not in needed:
            reason = f"older than the newest {keep} {options.unit}"
            yield Rewrite(
                part_index=part_index, text=options.placeholder, tokens_saved=saved, reason=reason
            )


def _argument_rewrites(
    view: ConversationView, meter: Meter, options: MicrocompactOptions, keep: int
) -> Iterator[Rewrite]:
    pairs = tool_pairs(view.messages)
    old = without_newest(view, _compactable(view, options), options.unit, keep)
    for part_index in sorted({pairs[result] for result in old}):
        call = view.messages[part_index.message].parts[part_index.part]
        if isinstance(call, ToolCallPart):
            text = replace_long_texts(call, LONG_TEXT, ARGUMENT_PLACEHOLDER)
            saved = count_saved_tokens(view, meter, part_index, text)
            if saved:
                reason = f"older than the newest {keep} {options.unit}"
                yield Rewrite(part_index=part_index, text=text, tokens_saved=saved, reason=reason)


def _compactable(view: ConversationView, options: MicrocompactOptions) -> tuple[PartIndex, ...]:
    """Return the results of compactable tools, oldest first; results without a call never count."""
    named, excluded = _casefolded(options.tools), _casefolded(options.exclude_tools)
    results = []
    for part_index, call_index in tool_pairs(view.messages).items():
        call = view.messages[call_index.message].parts[call_index.part]
        tool = getattr(call, "tool", "")
        # Without names, all tools of a known kind.
        is_selected = {tool.casefold(), ANY_TOOL} & named if named else does_work(tool)
        if is_selected and tool.casefold() not in excluded:
            results.append(part_index)
    return tuple(sorted(results))


def _casefolded(tools: Sequence[str]) -> frozenset[str]:
    return frozenset(tool.casefold() for tool in tools)


STAGE = Stage(
    name=NAME,
    title="clear results of routine tools, keep the newest few",
    options=MicrocompactOptions,
    propose=propose,
    example=MicrocompactOptions(keep_recent=1, tools=("*",)),
)
