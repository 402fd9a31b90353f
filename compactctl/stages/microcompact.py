"""Microcompact: clear the results of routine tools except the newest few."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compactctl.history.pairs import Place, tool_pairs
from compactctl.history.reads import referred
from compactctl.history.toolnames import kind_of
from compactctl.history.turns import steps, turns
from compactctl.history.view import View
from compactctl.model.edit import Proposal, Skipped
from compactctl.stages.rewriting import Rewrite, rewriting, saving
from compactctl.stages.stage import Stage
from compactctl.tokens.meter import Meter

NAME = "microcompact"
Unit = Literal["results", "turns", "steps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MicrocompactOptions:
    """How to microcompact; the defaults are those of agent-code.

    Attributes:
        keep_recent: how many of the newest results, turns or steps keep their results, at least 1.
        unit: what ``keep_recent`` counts.
        tools: names of the tools whose results are cleared, in any case; none stands for all
            tools that read, edit, write or search files or run commands.
        placeholder: what stands in place of a cleared result.
    """

    keep_recent: int = 5
    unit: Unit = "results"
    tools: tuple[str, ...] = ()
    placeholder: str = "[Old tool result cleared]"


def propose(view: View, meter: Meter, options: MicrocompactOptions) -> Proposal | Skipped:
    """Propose to clear the results of compactable tools that are not among the newest."""
    keep = max(1, options.keep_recent)
    rewrites = tuple(_clearings(view, meter, options, keep))
    if not rewrites:
        reason = f"nothing to clear before the newest {keep} {options.unit}"
        return Skipped(stage=NAME, reason=reason, detail="see --microcompact-keep-recent")
    note = f"tool results cleared: {len(rewrites):,}"
    return rewriting(view, rewrites, stage=NAME, options=options, note=note)


def _clearings(
    view: View, meter: Meter, options: MicrocompactOptions, keep: int
) -> Iterator[Rewrite]:
    needed = referred(view.messages, cwd=view.cwd)
    for place in _old(view, _compactable(view, options.tools), options.unit, keep):
        saved = saving(view, meter, place, options.placeholder)
        if saved and place not in needed:
            reason = f"older than the newest {keep} {options.unit}"
            yield Rewrite(place=place, text=options.placeholder, saved=saved, reason=reason)


def _compactable(view: View, tools: Sequence[str]) -> tuple[Place, ...]:
    """Return the results of compactable tools; a result without its call is never one."""
    names = {tool.casefold() for tool in tools}
    found = []
    for place, call_place in tool_pairs(view.messages).items():
        call = view.messages[call_place.message].parts[call_place.part]
        tool = getattr(call, "tool", "")
        if tool.casefold() in names if names else kind_of(tool):
            found.append(place)
    return tuple(sorted(found))


def _old(view: View, places: Sequence[Place], unit: Unit, keep: int) -> Sequence[Place]:
    if unit == "results":
        return places[:-keep]
    pieces = turns(view.messages) if unit == "turns" else steps(view.messages)
    recent = {index for piece in pieces[-keep:] for index in piece}
    return [place for place in places if place.message not in recent]


STAGE = Stage(name=NAME, options=MicrocompactOptions, propose=propose)
