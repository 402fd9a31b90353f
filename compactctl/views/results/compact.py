"""A compaction: what each stage did, the sizes, and the written files; and a rescue."""

from collections.abc import Iterable, Iterator
from typing import Any

from compactctl.commands.client_sessions.write import Written
from compactctl.commands.compact.presets import RescueResult
from compactctl.commands.compact.result import CompactResult
from compactctl.commands.measuring.next_request import CacheUse
from compactctl.commands.planning.fates import MessageFate
from compactctl.model.operation import StageRecord
from compactctl.sessions.session import Session
from compactctl.stages.registry import stage_named
from compactctl.views.encode import (
    encoded,
    fit_fields,
    measure_fields,
    written_fields,
)
from compactctl.views.facts import (
    base_text,
    counter_text,
    model_text,
    request_text,
    resume_lines,
    session_lines,
    tokens_text,
    undo_text,
    warning_lines,
    written_text,
)
from compactctl.views.other_systems import COMPACT, foreign_records
from compactctl.views.results.audit import audit_fields
from compactctl.views.terminal.screen import Fact, Facts, ScreenItem, Verbatim
from compactctl.views.terminal.tables import number, table, text
from compactctl.views.terminal.text import (
    line_text,
    one_line,
    path_name,
    plural,
    safe_text,
    share_text,
    shell_path,
)

_SHOWN_LINES = 3


def compact_terminal(result: CompactResult) -> Iterator[ScreenItem]:
    """Yield the output: one row per stage, the total, and its meaning.

    Explained messages come first, if requested.
    """
    if result.options.explain:
        yield from _fates(result)
    columns = (
        text("Stage"),
        text("Outcome"),
        number("Tokens before", spare=1),
        number("Tokens after"),
        number("Saved"),
    )
    before, after = result.outcome.before.tokens, result.outcome.after.tokens
    yield table(
        columns,
        map(_stage_cells, result.stages),
        ("all", "", *(f"{count:,}" for count in (before, after, before - after))),
    )
    yield ""
    yield from _stage_reasons(result)
    yield ""
    yield Facts(tuple(_compaction_facts(result)))
    yield from _outcome(result)


def compact_document(result: CompactResult) -> dict[str, Any]:
    """Return each stage, the sizes and the written files, and messages if explained."""
    outcome, written = result.outcome, result.written
    used = [record for record in result.stages if record.outcome == "applied"]
    document = {
        "schema": "compactctl.compact/2",
        "path": result.options.input.path,
        "format": result.format,
        **measure_fields(result.measure),
        "targetTokens": outcome.target,
        "compacted": result.compacted,
        "fits": result.fits,
        "dryRun": result.options.output.dry_run,
        "stagesUsed": [record.name for record in used],
        "stages": [_stage(record, result) for record in result.stages],
        "tokensBefore": outcome.before.tokens,
        "tokensAfter": outcome.after.tokens,
        "tokensSaved": outcome.before.tokens - outcome.after.tokens,
        "unseenTokens": outcome.after.unseen,
        "unseenSource": outcome.size.source,
        "unreportedBy": outcome.size.unreported or None,
        "largestRequestTokens": result.largest_after,
        "restatedUsage": _restated(result),
        "promptCache": _cache(result),
        "level": result.plan.profile.level_at(outcome.situation).name,
        "fit": fit_fields(result.measure, result.largest_after),
        "messagesBefore": outcome.before.messages,
        "messagesAfter": outcome.after.messages,
        "messagesHidden": sum(record.hidden for record in used),
        "profile": result.plan.profile.name,
        "before": encoded(result.before),
        "after": encoded(result.change.after),
        "operation": result.change.operation,
        **written_fields(written),
        "archivedOut": result.options.archived_out if written else None,
        "planOut": result.options.plan_out,
        "leftOutFrom": written.left_out_from if written else None,
        "redone": encoded(result.undone),
        "forkedTo": written.forked_to if written else None,
        "notUnderstood": encoded(result.opaque),
        "warnings": encoded(result.warnings),
    }
    document["as"] = foreign_records(COMPACT, {**document, "tier": _tier(used)})
    if result.options.explain:
        document["messages"] = encoded(result.requested.fates)
    return document


def compact_messages(result: CompactResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, written files, and how to undo it."""
    for opaque in result.opaque[:_SHOWN_LINES]:
        yield f"warning: line {opaque.line + 1}: {opaque.damage}; carried as it is"
    others = len(result.opaque) - _SHOWN_LINES
    if others > 0:
        yield f"warning: {plural(others, 'more line')} carried without being understood"
    yield from warning_lines(result.warnings)
    if result.options.plan_out:
        yield (
            f"wrote {line_text(result.options.plan_out)} (the fate of every message; edit it, and "
            f"carry it out with --plan {shell_path(result.options.plan_out)})"
        )
    if result.options.output.dry_run:
        yield "dry run: nothing was written"
    if result.written is not None:
        yield from _output_lines(result, result.written)


def _fates(result: CompactResult) -> Iterator[ScreenItem]:
    """Yield every message with its fate, then every reason in full with its figures."""
    columns = (
        number("Line"),
        text("Message", "end", min_width=14),
        number("Tokens"),
        number("After", spare=1),
        text("Fate"),
        text("Why", "end", min_width=17, spare=2),
    )
    yield table(columns, map(_message_cells, result.requested.fates))
    yield ""
    yield "Why"
    yield from _fate_reasons(result)
    yield ""


def _message_cells(row: MessageFate) -> tuple[str, ...]:
    what = " ".join((row.role, *row.tools))
    return (
        str(row.line),
        one_line(what, 60),
        f"{row.tokens:,}",
        f"{row.tokens_after:,}",
        _fate(row),
        one_line(row.reason),
    )


def _fate(row: MessageFate) -> str:
    return f"{row.fate} by {row.stage}" if row.stage else row.fate


def _fate_reasons(result: CompactResult) -> Iterator[str]:
    groups: dict[tuple[str, str], list[MessageFate]] = {}
    for row in result.requested.fates:
        groups.setdefault((_fate(row), row.reason), []).append(row)
    for (fate, reason), rows in groups.items():
        before, after = sum(row.tokens for row in rows), sum(row.tokens_after for row in rows)
        what = f"{plural(len(rows), 'message')} {fate} ({before:,} tokens before, {after:,} after)"
        yield f"{what}: {one_line(reason)}"


def _stage_cells(record: StageRecord) -> tuple[str, ...]:
    outcome: str = record.outcome.replace("-", " ")
    if record.outcome == "applied":
        unsent = record.figures.get("unsentRecords")
        taken_out = "" if unsent is None else f"{unsent:,} taken out"
        outcome = ", ".join(filter(None, (_changes(record), taken_out)))
    numbers = (record.tokens_before, record.tokens_after, record.tokens_saved)
    return (record.name, outcome, *(f"{count:,}" for count in numbers))


def _changes(record: StageRecord) -> str:
    changes = (
        f"{record.hidden:,} hidden" if record.hidden else "",
        f"{record.replaced:,} rewritten" if record.replaced else "",
    )
    return ", ".join(filter(None, changes))


def _stage_reasons(result: CompactResult) -> Iterator[str]:
    for record in result.stages:
        if record.detail and record.outcome != "not-needed":
            yield f"{record.name}: {safe_text(record.detail)}"
    idle = ", ".join(record.name for record in result.stages if record.outcome == "not-needed")
    if result.outcome.not_due:
        yield result.outcome.not_due
    elif idle:
        yield f"{idle}: not needed, the context was within the target by then"


def _compaction_facts(result: CompactResult) -> Iterator[Fact]:
    before, after = result.outcome.before, result.outcome.after
    counted = f"{counter_text(result.measure)}; {model_text(result.measure)}"
    yield Fact("counted with", counted)
    yield from _undone_facts(result)
    for label, totals in (("before", before), ("after", after)):
        yield Fact(label, f"{tokens_text(totals.tokens)} in {plural(totals.messages, 'message')}")
    if after.unseen:
        yield Fact("unseen", unseen_text(after.unseen, result.outcome.size.source))
    is_single = result.largest_after == after.tokens + after.unseen
    name = "next request" if is_single else "largest request"
    yield Fact(name, request_text(result.largest_after, result.outcome.size.unreported))
    if result.restated:
        size_text, line = tokens_text(result.restated.tokens), result.restated.line + 1
        yield Fact("client sees", f"{size_text} up to line {line:,}: recorded usage, restated")
    if any("unsentBytes" in record.figures for record in result.stages):
        size, new_size = result.before.n_bytes, result.change.after.n_bytes
        yield Fact("file", f"{size:,} bytes before, {new_size:,} after")
    if result.outcome.cache:
        yield Fact("prompt cache", _cache_text(result.outcome.cache, result.requested.pays_after))
    yield _verdict(result)


def _undone_facts(result: CompactResult) -> Iterator[Fact]:
    """Yield what the client had compacted and this compaction replaced, if anything."""
    if result.undone:
        hidden = sum(len(compaction.hidden) for compaction in result.undone)
        yield Fact("redone", f"{plural(hidden, 'message')} that {result.format} had compacted")


def unseen_text(tokens: int, source: str) -> str:
    """Return by how much the next request is larger or smaller than its counted tokens."""
    compared = "more" if tokens > 0 else "less"
    return f"{tokens_text(abs(tokens))} {compared} in the next request ({safe_text(source)})"


def _cache_text(cache: CacheUse, pays_after: int | None) -> str:
    cached = f"{tokens_text(cache.held)} before line {cache.line + 1:,} stay in it"
    paid = "" if pays_after is None else f"; pays after {plural(pays_after, 'request')}"
    return f"{cached}, {cache.resent:,} are sent anew{paid}"


def _verdict(result: CompactResult) -> Fact:
    """Return whether the target was reached or, without a target, whether it fits the limit."""
    name, what, good = "target", "", "reached"
    if result.outcome.target is None:
        name, what, good = "limit", f", {base_text(result.measure.limits)}", "it fits"
    elif result.outcome.target > result.limit:
        name, what, good = "limit", ", the context window", "it fits"
    if not result.fits:
        good = f"STILL OVER by {result.largest_after - result.limit:,}"
    verdict = f"{tokens_text(result.limit)}{what}: {good}"
    return Fact(name, verdict, "" if result.fits else "bold red")


def _outcome(result: CompactResult) -> Iterator[ScreenItem]:
    if not result.fits:
        yield _way_on(result)
    if result.compacted:
        return
    is_idle = all(record.outcome == "not-needed" for record in result.stages)
    advice = "; name --stages or a lower --target to compact anyway" if is_idle else ""
    if result.outcome.not_due:
        advice = "; leave out --if-needed to compact anyway"
    yield f"nothing was changed{advice}"


def _way_on(result: CompactResult) -> str:
    if result.outcome.after.unseen >= result.limit:
        return "no compaction reaches that: what is in every request beside the transcript is more"
    ways = (
        "other --stages"
        if result.plan.protect.keep_turns == 0
        else "--keep-turns 0 or other --stages"
    )
    return f"--explain tells why each message stays; {ways} free more"


def _stage(record: StageRecord, result: CompactResult) -> dict[str, Any]:
    """Return what a stage did; its counts are 0 if it did nothing."""
    stage = stage_named(record.name)
    summary = next((written for written in result.summaries if written.group == record.group), None)
    fields = {
        **encoded(record),
        **dict.fromkeys(stage.count_names, 0),
        **record.figures,
        "summaryText": summary and summary.text,
        "audit": audit_fields(summary.audit) if summary and summary.audit else None,
    }
    figures = {**fields, "applied": record.outcome == "applied"}
    return {**fields, "as": foreign_records(stage.foreign_schemas, figures)}


def _restated(result: CompactResult) -> dict[str, Any] | None:
    restated = result.restated
    return None if restated is None else {"line": restated.line + 1, "tokens": restated.tokens}


def _cache(result: CompactResult) -> dict[str, Any] | None:
    cache = result.outcome.cache
    if cache is None:
        return None
    return {
        "firstChangedLine": cache.line + 1,
        "heldTokens": cache.held,
        "sentAnewTokens": cache.resent,
        "savedTokens": cache.saved,
        "paysAfterRequests": result.requested.pays_after,
    }


def _tier(used: Iterable[StageRecord]) -> int:
    return max((stage_named(record.name).codebuddy_tier for record in used), default=0)


def _output_lines(result: CompactResult, written: Written) -> Iterator[str]:
    """Yield the written file, what it lacks, how to undo it, and how to resume."""
    yield written_text(written, result.change.after.n_bytes, result.before.n_bytes)
    yield from session_lines(written)
    if written.left_out_from is not None:
        yield (
            f"{path_name(result.options.input.path)} went on growing; left out from line "
            f"{written.left_out_from:,} on"
        )
    if written.archive:
        yield f"originals are in {line_text(written.archive)} (may hold secrets, as the input does)"
    if result.options.archived_out:
        yield f"their lines, each with its tags, are in {line_text(result.options.archived_out)}"
    if result.change.operation:
        yield f"operation {result.change.operation}; undo with: {undo_text(written)}"
    yield from resume_lines(written.continue_with)


def rescue_terminal(result: RescueResult) -> Iterator[ScreenItem]:
    """Yield the output: the context before and after, and how to undo and resume it."""
    done = result.compacted
    if done.compacted or done.written is not None:
        yield Facts(tuple(_rescue_facts(result)))
    else:
        yield _nothing_rescued(result)
    if result.earlier is not None:
        yield from _rescued_before(result.earlier, done.options.input.path)
    if done.written is not None:
        yield written_text(done.written)
        yield from session_lines(done.written)
        yield f"undo with: {undo_text(done.written)}"
    # Whole on its line, to be copied.
    yield from map(Verbatim, resume_lines(result.continue_with))


def rescue_document(result: RescueResult) -> dict[str, Any]:
    """Return how to resume, with the document of ``compact``."""
    return {
        "schema": "compactctl.rescue/1",
        "path": result.compacted.options.input.path,
        "continueWith": result.continue_with,
        "earlier": None if result.earlier is None else result.earlier.id,
        "uncountedTokens": result.uncounted,
        "compact": compact_document(result.compacted),
    }


def rescue_messages(result: RescueResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, and whether nothing was written."""
    done = result.compacted
    yield from warning_lines(done.warnings)
    if done.options.output.dry_run and result.earlier is None:
        yield "dry run: nothing was written"


def _rescue_facts(result: RescueResult) -> Iterator[Fact]:
    done = result.compacted
    was, limit = result.tokens_before, done.measure.limits.base_tokens
    yield Fact("was", f"{tokens_text(was)}, {_share(done, was)}", "bold red" if was > limit else "")
    if result.uncounted:
        text = f"by the error; {result.uncounted:,} of them are not counted in the transcript"
        yield Fact("", text)
    free = limit - result.tokens_after
    room = f"{free:,} are free" if free > 0 else f"STILL {-free:,} TOO MANY"
    share = share_text(result.tokens_after / limit)
    verdict = f"{tokens_text(result.tokens_after)}, {share}: {room}"
    yield Fact("is", verdict, "" if free > 0 else "bold red")
    yield from _undone_facts(done)
    used = [record for record in done.stages if record.outcome == "applied"]
    if used:
        yield Fact("by", ", ".join(f"{record.name} ({_changes(record)})" for record in used))
    yield Fact("counted with", counter_text(done.measure))


def _share(done: CompactResult, tokens: int) -> str:
    limits = done.measure.limits
    return f"{share_text(tokens / limits.base_tokens)} of {base_text(limits)}"


def _nothing_rescued(result: RescueResult) -> str:
    done = result.compacted
    size = f"{result.tokens_after:,} tokens, {_share(done, result.tokens_after)}"
    is_full = result.tokens_after > done.measure.limits.base_tokens
    verdict = "nothing in it can go" if is_full else "there is nothing to rescue"
    return f"{path_name(done.options.input.path)}: {verdict}: {size}; nothing was written"


def _rescued_before(session: Session, path: str) -> Iterator[str]:
    title = f' "{one_line(session.details.title)}"' if session.details.title else ""
    yield f"rescued before, as session {one_line(session.id)}{title}; nothing was written now"
    yield f"another one with: compactctl compact {shell_path(path)}"
