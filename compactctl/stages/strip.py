"""Strip: replace long old tool results, and long texts in the arguments of old calls."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts, parts_of_tools, tool_pairs
from compactctl.history.reads import stub_targets
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import Part, ToolCallPart, ToolResultPart
from compactctl.stages.support.replacement import (
    ARGUMENT_PLACEHOLDER,
    LONG_TEXT,
    Rewrite,
    older_than_newest,
    results_in,
    rewrite_proposal,
    tokens_saved,
    without_long_texts,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "strip"
CHARS = "{chars}"
StripUnit = Literal["messages", "turns", "steps", "results"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StripOptions:
    """How to strip; the defaults are those of Codebuddy."""

    keep_recent: int = option(
        4, "How many of the newest messages, turns, steps or results stay as they are."
    )
    unit: StripUnit = option("messages", "What ``keep_recent`` counts.")
    over: int = option(
        LONG_TEXT, "Characters that a result, or a text in a call's arguments, may have."
    )
    args: bool = option(
        True,
        "Also replace longer texts in the arguments of calls; all keys and shorter values stay.",
    )
    protect_tools: tuple[str, ...] = option((), "Tools whose calls and results stay as they are.")
    placeholder: str = option(
        "[Tool result truncated — originally {chars} chars]",
        "What stands in place of a result; {chars} is the number of characters it had.",
    )
    args_placeholder: str = option(
        ARGUMENT_PLACEHOLDER, "What stands in place of a text in the arguments."
    )


def propose(view: ConversationView, meter: Meter, options: StripOptions) -> Proposal | Skipped:
    """Propose to replace every long result and argument that is not among the newest."""
    rewrites = tuple(_rewrites(view, meter, options))
    if not rewrites:
        reason = (
            f"nothing over {options.over:,} characters"
            f" before the newest {options.keep_recent} {options.unit}"
        )
        return Skipped(stage=NAME, reason=reason, detail="see --strip-over and --strip-keep-recent")
    note = f"tool results and calls stripped: {len(rewrites):,}"
    return rewrite_proposal(view, rewrites, stage=NAME, options=options, note=note)


def _rewrites(view: ConversationView, meter: Meter, options: StripOptions) -> Iterator[Rewrite]:
    needed, recent = stub_targets(view.messages, cwd=view.cwd), _recent(view, options)
    spared = parts_of_tools(view.messages, options.protect_tools)
    reason = f"older than the newest {options.keep_recent} {options.unit}"
    for place, part in iter_parts(view.messages):
        if place in needed or place in recent or place in spared:
            continue
        text = _new_text(part, options)
        saved = 0 if text is None else tokens_saved(view, meter, place, text)
        if text is not None and saved:
            yield Rewrite(part_index=place, text=text, tokens_saved=saved, reason=reason)


def _new_text(part: Part, options: StripOptions) -> str | None:
    """Return what is to stand in place of a part's content, None when it stays."""
    match part:
        case ToolResultPart() if len(part.text) > options.over and not _is_done(part, options):
            return options.placeholder.replace(CHARS, str(len(part.text)))
        case ToolCallPart() if options.args:
            return without_long_texts(part, options.over, options.args_placeholder)
        case _:
            return None


def _is_done(part: ToolResultPart, options: StripOptions) -> bool:
    pattern = re.escape(options.placeholder).replace(re.escape(CHARS), r"\d+")
    return re.fullmatch(pattern, part.text) is not None


def _recent(view: ConversationView, options: StripOptions) -> frozenset[PartIndex]:
    """Return the parts that are among the newest; a call is as new as its result."""
    places = frozenset(place for place, _ in iter_parts(view.messages))
    if options.unit == "messages":
        first = len(view.messages) - options.keep_recent
        return frozenset(place for place in places if place.message >= first)
    if options.unit != "results":
        return places.difference(
            older_than_newest(view, tuple(places), options.unit, options.keep_recent)
        )
    results = tuple(place for place, _ in results_in(view))
    newest = set(results).difference(
        older_than_newest(view, results, options.unit, options.keep_recent)
    )
    pairs = tool_pairs(view.messages)
    return frozenset(newest | {pairs[place] for place in newest if place in pairs})


STAGE = Stage(
    name=NAME,
    title="replace long old tool results, and long texts in the arguments of old calls",
    options=StripOptions,
    propose=propose,
    codebuddy_tier=1,
)
