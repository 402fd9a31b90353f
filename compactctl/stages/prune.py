"""Prune: clear old tool results, keep the newest."""

from collections.abc import Iterator
from dataclasses import dataclass

from compactctl.history.pairs import Place, result_tools
from compactctl.history.reads import referred
from compactctl.history.view import View
from compactctl.model.edit import Proposal, Skipped
from compactctl.stages.rewriting import Rewrite, results_in, rewriting, saving
from compactctl.stages.stage import Stage
from compactctl.tokens.meter import Meter

NAME = "prune"


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneOptions:
    """How to prune; the defaults are those of OpenCode and NeuroLink.

    Attributes:
        protect_tokens: tokens of the newest tool results to keep; the result that crosses the
            line is kept whole.
        min_savings: do nothing when fewer tokens would be saved.
        protect_tools: tools whose results stay and do not use up ``protect_tokens``.
        placeholder: what stands in place of a cleared result.
    """

    protect_tokens: int = 40_000
    min_savings: int = 20_000
    protect_tools: tuple[str, ...] = ("skill",)
    placeholder: str = "[Tool result cleared]"


def propose(view: View, meter: Meter, options: PruneOptions) -> Proposal | Skipped:
    """Propose to clear every tool result that is older than the newest ones."""
    rewrites = tuple(_clearings(view, meter, options))
    saved = sum(rewrite.saved for rewrite in rewrites)
    if not rewrites:
        reason = f"nothing to clear before the newest {options.protect_tokens:,} tokens of results"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --prune-protect-tokens")
    if saved < options.min_savings:
        reason = f"would save {saved:,} tokens, below the minimum of {options.min_savings:,}"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --prune-min-savings")
    note = f"tool results cleared: {len(rewrites):,}"
    return rewriting(view, rewrites, stage=NAME, options=options, note=note)


def _clearings(view: View, meter: Meter, options: PruneOptions) -> Iterator[Rewrite]:
    needed = referred(view.messages, cwd=view.cwd)
    reason = f"older than the newest {options.protect_tokens:,} tokens of tool results"
    for place in _outside_window(view, meter, options):
        saved = saving(view, meter, place, options.placeholder)
        if saved and place not in needed:
            yield Rewrite(place=place, text=options.placeholder, saved=saved, reason=reason)


def _outside_window(view: View, meter: Meter, options: PruneOptions) -> Iterator[Place]:
    tools = result_tools(view.messages)
    protected = {tool.casefold() for tool in options.protect_tools}
    kept = 0
    for place, part in reversed(tuple(results_in(view))):
        if tools[place].casefold() in protected:
            continue
        if kept >= options.protect_tokens:
            yield place
        elif not part.cleared:
            kept += meter.part(part)


STAGE = Stage(name=NAME, options=PruneOptions, propose=propose)
