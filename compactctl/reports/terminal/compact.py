"""``compact`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.forking.written import Written
from compactctl.commands.sizing.prompt_cache import CacheUse
from compactctl.model.operation import StageRecord
from compactctl.reports.rendering.screen import Fact, Facts, ScreenItem
from compactctl.reports.rendering.tables import number, table, text
from compactctl.reports.rendering.text import (
    line_text,
    path_name,
    plural,
    safe_text,
    shell_path,
)
from compactctl.reports.rendering.wording import (
    base_text,
    counter_text,
    model_text,
    tokens_text,
)
from compactctl.reports.terminal.sections.doubts import request_text
from compactctl.reports.terminal.sections.explain import fates_terminal
from compactctl.reports.terminal.sections.written import (
    beside_texts,
    continue_texts,
    undo_text,
    written_text,
)

_SHOWN_LINES = 3


def compact_terminal(result: CompactResult) -> Iterator[ScreenItem]:
    """Yield what to print: one row per stage, the sum, and what it means.

    Where messages are to be explained, they come first.
    """
    if result.explain:
        yield from fates_terminal(result)
    columns = (
        text("Stage"),
        text("Outcome"),
        number("Tokens before", spare=1),
        number("Tokens after"),
        number("Saved"),
    )
    saved = result.tokens_before - result.tokens_after
    numbers = (result.tokens_before, result.tokens_after, saved)
    yield table(
        columns,
        map(_stage_cells, result.stages),
        ("all", "", *(f"{count:,}" for count in numbers)),
    )
    yield ""
    yield from _stage_reasons(result)
    yield ""
    yield Facts(tuple(_compaction_facts(result)))
    yield from _outcome(result)


def compact_messages(result: CompactResult) -> Iterator[str]:
    """Yield the lines for standard error: what was written, how to undo it, warnings."""
    for opaque in result.opaque[:_SHOWN_LINES]:
        yield f"warning: line {opaque.line + 1}: {opaque.damage}; carried as it is"
    rest = len(result.opaque) - _SHOWN_LINES
    if rest > 0:
        yield f"warning: {plural(rest, 'more line')} carried without being understood"
    yield from (f"warning: {line_text(warning)}" for warning in result.warnings)
    if result.plan_out:
        yield (
            f"wrote {line_text(result.plan_out)} (the fate of every message; edit it, and carry it "
            f"out with --plan {shell_path(result.plan_out)})"
        )
    if result.dry_run:
        yield "dry run: nothing was written"
    if result.written is not None:
        yield from _written(result, result.written)


def _written(result: CompactResult, written: Written) -> Iterator[str]:
    """Yield what was written where, what it lacks, how to undo it, and how to go on."""
    yield written_text(written, result.after.n_bytes, result.before.n_bytes)
    yield from beside_texts(written)
    if written.left_out_from is not None:
        yield (
            f"{path_name(result.path)} went on growing; left out from line "
            f"{written.left_out_from:,} on"
        )
    if written.archive:
        yield f"originals are in {line_text(written.archive)} (may hold secrets, as the input does)"
    if result.archived_out:
        yield f"their lines, each with its tags, are in {line_text(result.archived_out)}"
    if result.operation:
        yield f"operation {result.operation}; undo with: {undo_text(written)}"
    yield from continue_texts(written.continue_with)


def _stage_cells(record: StageRecord) -> tuple[str, ...]:
    outcome: str = record.outcome.replace("-", " ")
    if record.outcome == "applied":
        changes = [
            f"{record.hidden:,} hidden" if record.hidden else "",
            f"{record.replaced:,} rewritten" if record.replaced else "",
            f"{record.figures['unsentRecords']:,} taken out"
            if "unsentRecords" in record.figures
            else "",
        ]
        outcome = ", ".join(filter(None, changes))
    numbers = (record.tokens_before, record.tokens_after, record.saved)
    return (record.name, outcome, *(f"{count:,}" for count in numbers))


def _stage_reasons(result: CompactResult) -> Iterator[str]:
    for record in result.stages:
        if record.detail and record.outcome != "not-needed":
            yield f"{record.name}: {safe_text(record.detail)}"
    idle = ", ".join(record.name for record in result.stages if record.outcome == "not-needed")
    if result.not_due:
        yield result.not_due
    elif idle:
        yield f"{idle}: not needed, the context was within the target by then"


def _compaction_facts(result: CompactResult) -> Iterator[Fact]:
    counted = f"{counter_text(result.measure)}; {model_text(result.measure)}"
    yield Fact("counted with", counted)
    if result.redone:
        hidden = sum(len(each.hidden) for each in result.redone)
        yield Fact("redone", f"{plural(hidden, 'message')} that {result.format} had compacted")
    yield Fact("before", f"{tokens_text(result.tokens_before)} in {_count(result.messages_before)}")
    yield Fact("after", f"{tokens_text(result.tokens_after)} in {_count(result.messages_after)}")
    if result.unseen:
        yield Fact("unseen", unseen_text(result.unseen, result.unseen_source))
    is_single = result.largest_after == result.tokens_after + result.unseen
    name = "next request" if is_single else "largest request"
    yield Fact(name, request_text(result.largest_after, result.unreported))
    if result.restated:
        told, line = tokens_text(result.restated.tokens), result.restated.line + 1
        yield Fact("client sees", f"{told} up to line {line:,}: recorded usage, restated")
    if any("unsentBytes" in record.figures for record in result.stages):
        size, left = result.before.n_bytes, result.after.n_bytes
        yield Fact("file", f"{size:,} bytes before, {left:,} after")
    if result.cache:
        yield Fact("prompt cache", _cache_text(result.cache, result.pays_after))
    yield _verdict(result)


def unseen_text(tokens: int, source: str) -> str:
    """Return by how much the next request is more or less than what is counted of it."""
    compared = "more" if tokens > 0 else "less"
    return f"{tokens_text(abs(tokens))} {compared} in the next request ({safe_text(source)})"


def _cache_text(cache: CacheUse, pays_after: int | None) -> str:
    kept = f"{tokens_text(cache.held)} before line {cache.line + 1:,} stay in it"
    paid = "" if pays_after is None else f"; pays after {plural(pays_after, 'request')}"
    return f"{kept}, {cache.anew:,} are sent anew{paid}"


def _verdict(result: CompactResult) -> Fact:
    """Return whether the size to reach was reached, or, without one, whether the limit is kept."""
    name, what, good = "target", "", "reached"
    if result.target is None:
        name, what, good = "limit", f", {base_text(result.measure.limits)}", "it fits"
    elif result.target > result.limit:
        name, what, good = "limit", ", the context window", "it fits"
    if not result.fits:
        good = f"STILL OVER by {result.largest_after - result.limit:,}"
    told = f"{tokens_text(result.limit)}{what}: {good}"
    return Fact(name, told, "" if result.fits else "bold red")


def _way_on(result: CompactResult) -> str:
    if result.unseen >= result.limit:
        return "no compaction reaches that: what is in every request beside the transcript is more"
    ways = "other --stages" if result.keep_turns == 0 else "--keep-turns 0 or other --stages"
    return f"--explain tells why each message stays; {ways} free more"


def _count(messages: int) -> str:
    return plural(messages, "message")


def _outcome(result: CompactResult) -> Iterator[ScreenItem]:
    if not result.fits:
        yield _way_on(result)
    if result.compacted:
        return
    is_idle = all(record.outcome == "not-needed" for record in result.stages)
    advice = "; name --stages or a lower --target to compact anyway" if is_idle else ""
    if result.not_due:
        advice = "; leave out --if-needed to compact anyway"
    yield f"nothing was changed{advice}"
