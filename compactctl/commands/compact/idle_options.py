"""Options of a compaction that came to nothing, which is most often a slip of the pen."""

from collections.abc import Iterator
from dataclasses import replace

from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.history.protection import pinned_by
from compactctl.model.summary import NO_TEXTS
from compactctl.stages.aliases import own_name
from compactctl.stages.summarizing.summarize import NAME as SUMMARIZE


def with_idle_options(result: CompactResult, options: CompactOptions) -> CompactResult:
    """Return the result with a warning for every option that had no effect."""
    return replace(result, warnings=(*result.warnings, *_warnings(result, options)))


def _warnings(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    yield from _pins(result, options)
    yield from _tools(result, options)
    yield from _settings(result, options)
    yield from _summarizer(result, options)
    yield from _instructions(options)


def _pins(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    ids = {row.id for row in result.explained}
    reasons = {row.reason for row in result.explained}
    for pin in options.recipe.protect.pins:
        if pin not in ids and pinned_by(pin) not in reasons:
            yield f"--pin {pin}: no message stays because of it; check the id or the pattern"


def _tools(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    names = dict.fromkeys(tool for row in result.explained for tool in row.tools)
    known = {name.casefold() for name in names}
    for tool in options.recipe.protect.tools:
        if tool.casefold() not in known:
            there = f"there are {', '.join(names)}" if names else "there are no tool calls"
            yield f"--protect-tool {tool}: no message calls this tool; {there}"


def _settings(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    ran = [own_name(record.name) for record in result.stages]
    of_summaries = (SUMMARIZE,) if options.recipe.plan.texts != NO_TEXTS else ()
    for stage in dict.fromkeys((*options.recipe.plan.settings, *of_summaries)):
        if stage not in ran:
            yield f"options of {stage} have no effect: the stages are {', '.join(ran)}"


def _instructions(options: CompactOptions) -> Iterator[str]:
    given = options.recipe.plan.settings.get(SUMMARIZE, {}).get("instructions")
    if given and options.recipe.summarizer.kind == "offline":
        yield "--summarize-instructions has no effect on the built-in summary; see --summarizer"


def _summarizer(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    wanted = result.profile.summarizer
    if wanted and wanted != options.recipe.summarizer.kind and result.summaries:
        yield (
            f"profile {result.profile.name}: a summary by {wanted} was not asked for; the "
            f"{options.recipe.summarizer.kind} summarizer wrote, see --summarizer"
        )
