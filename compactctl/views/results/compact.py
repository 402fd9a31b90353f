"""A compaction: what each stage did, the sizes, and the written files; and a rescue."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from compactctl.commands.client_sessions.write import Written
from compactctl.commands.compact.presets import RescueResult
from compactctl.commands.compact.result import CompactResult, EarlierEnd
from compactctl.commands.planning.fates import MessageFate
from compactctl.history.faults import Fault, refused_among
from compactctl.model.operation import StageRecord
from compactctl.stages.registry import stage_named
from compactctl.stages.repair import NAME as REPAIR
from compactctl.views.encode import (
    encoded,
    fit_fields,
    measure_fields,
    verdict_fields,
    written_fields,
)
from compactctl.views.facts import (
    base_text,
    growth_line,
    labeled,
    resume_lines,
    undo_line,
    warning_lines,
    written_lines,
)
from compactctl.views.faults import (
    fault_rows,
    place_text,
    repaired_faults,
    repaired_lines,
    subject_document,
    subject_text,
    unrepaired_faults,
    verdict,
)
from compactctl.views.other_systems import COMPACT, foreign_records
from compactctl.views.results.request import assumption_lines
from compactctl.views.terminal.screen import (
    Accent,
    Fact,
    Facts,
    ScreenItem,
    TextStyle,
    Verbatim,
)
from compactctl.views.terminal.tables import Table, number, table, text
from compactctl.views.terminal.text import (
    change_text,
    line_text,
    one_line,
    path_name,
    percent_text,
    plural,
    safe_text,
    share_text,
    shell_path,
    size_text,
    typed_command,
)

_DRY_RUN = "dry run: no transcript was written"
_SHOWN_LINES = 3
_NOTE = re.compile(r"([^:]+): ([\d,]+)")
_PLURAL = re.compile(r"s\b")


def compact_terminal(result: CompactResult) -> Iterator[ScreenItem]:
    """Yield the output: the answer, then the stages that add up to it, and fates on request."""
    if result.subject is not None:
        yield subject_text(result.subject)
    yield answer_line(result)
    if result.outcome.conversation.after != result.outcome.conversation.before:
        yield share_line(result)
    if result.judgment.is_over and not result.outcome.not_due:
        yield _advice_on_size(result)
    yield from assumption_lines(result.measure, result.outcome.size)
    if not result.compacted:
        yield from _advice_on_nothing(result)
    yield ""
    yield _stage_table(result)
    facts = tuple(_facts(result))
    if facts:
        yield ""
        yield Facts(facts)
    if result.options.explain:
        yield from _fates(result)
    yield ""


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
        **verdict_fields(result.judgment),
        "dryRun": result.options.output.dry_run,
        "stagesUsed": [record.name for record in used],
        "stages": [_stage(record, result) for record in result.stages],
        "tokensBefore": outcome.before.tokens,
        "tokensAfter": outcome.after.tokens,
        "tokensSaved": outcome.before.tokens - outcome.after.tokens,
        "conversation": {
            "tokensOriginal": outcome.conversation.original,
            "tokensBefore": outcome.conversation.before,
            "tokensAfter": outcome.conversation.after,
            "share": outcome.conversation.share,
        },
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
        **written_fields(written or result.earlier),
        "archivedOut": result.options.archived_out if written or result.earlier else None,
        "planOut": result.options.plan_out,
        "leftOutFrom": written.left_out_from if written else None,
        "redone": encoded(result.undone),
        "from": _end(result.end),
        "error": subject_document(result.subject),
        "faults": fault_rows(result.faults),
        "remainingFaults": fault_rows(result.remaining),
        "forkedTo": written.forked_to if written else None,
        "earlier": result.earlier.forked_to if result.earlier else None,
        "notUnderstood": encoded(result.opaque),
        "warnings": encoded(result.warnings),
    }
    # Spring AI Session replaces earlier summaries, and archives only what they do not stand for.
    summaries = sum(record.figures.get("summariesHidden", 0) for record in used)
    ours = {"tier": _tier(used), "eventsArchived": document["messagesHidden"] - summaries}
    document["as"] = foreign_records(COMPACT, {**document, **ours})
    if result.options.explain:
        document["messages"] = encoded(result.requested.fates)
    return document


def compact_messages(result: CompactResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, written files, and how to undo it."""
    for opaque in result.opaque[:_SHOWN_LINES]:
        yield f"warning: line {opaque.line + 1}: {opaque.damage}; kept unchanged"
    others = len(result.opaque) - _SHOWN_LINES
    if others > 0:
        yield f"warning: {plural(others, 'more line')} not recognized, kept unchanged"
    yield from warning_lines(result.warnings)
    yield from _refusal_lines(result)
    if result.options.plan_out:
        plan_out = result.options.plan_out
        yield labeled(
            "plan", f"{line_text(plan_out)} (edit it, then --plan {shell_path(plan_out)})"
        )
    if result.options.output.dry_run:
        yield from _dry_run_lines(result)
    if result.written is not None:
        yield from _output_lines(result, result.written)
    if result.earlier is not None:
        yield _earlier_line(result.earlier)
        yield from resume_lines(result.earlier.continue_with)


def _refusal_lines(result: CompactResult) -> Iterator[str]:
    """Yield that the next request will still be refused, and for what first."""
    faults = refused_among(result.remaining)
    if faults:
        first = f"{place_text(faults[0])}: {one_line(faults[0].text)}"
        yield f"warning: {verdict(faults)} ({first}); rescue repairs what can be"


def _earlier_line(earlier: Written) -> str:
    name = line_text(earlier.forked_to or "")
    return f"already compacted as {name}: no other session was written; --force writes one"


def _dry_run_lines(result: CompactResult) -> Iterator[str]:
    """Yield that nothing was written, and by how much a session would grow."""
    yield _DRY_RUN
    if result.options.output.layout == "native" and result.compacted:
        yield growth_line(result.change, result.options.input.path)


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
    yield ""
    yield table(columns, map(_message_cells, result.requested.fates))
    yield ""
    yield "Why"
    yield from _fate_reasons(result)


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


def answer_line(result: CompactResult) -> Accent:
    """Return the size before and after, and by how much it misses the target."""
    before, after = result.outcome.sizes.before, result.outcome.sizes.after
    where = "in the next request" if result.outcome.is_single else "in all conversations"
    if result.opaque and not result.outcome.before.messages:
        lines = plural(len({opaque.line for opaque in result.opaque}), "line")
        return Accent(f"nothing to compact: {lines} not recognized, no message found", "bold red")
    size = f"{before:,} → {after:,} tokens {where} ({change_text(before, after)})"
    if not result.compacted:
        size = f"{before:,} tokens {where}: nothing was changed"
    return Accent(f"{size}{_verdict_text(result)}", "bold" if result.judgment.fits else "bold red")


def _verdict_text(result: CompactResult) -> str:
    """Return what is worst about the next request, to follow its size; "" if it fits."""
    match result.judgment.verdict:
        case "will be refused":
            return f": {verdict(refused_among(result.remaining))}"
        case "incomplete" if not result.judgment.is_over:
            return ", and whether that fits is unknown"
        case "incomplete" | "over limit" | "over target":
            return f": {result.largest_after - result.limit:,} over {_limit_text(result)}"
        case _:
            return ""


def share_line(result: CompactResult) -> str:
    """Return how much of the conversation is left, and what else the next request contains."""
    size = result.outcome.conversation
    what = "the conversation" if result.outcome.is_single else "all conversations"
    tokens = f"{size.after:,} of {size.original:,} tokens"
    line = f"kept {share_text(size.share)} of {what} ({tokens})"
    rest = _fixed_tokens(result)
    if not result.outcome.is_single or rest <= 0:
        return line
    return f"{line}; system prompt, tools and overhead add {rest:,}"


def _fixed_tokens(result: CompactResult) -> int:
    """Return the tokens of the next request beside the conversation."""
    return result.outcome.after.request_tokens - result.outcome.conversation.after


def _limit_text(result: CompactResult) -> str:
    """Return the limit that the next request is compared with."""
    limit, target = result.limit, result.outcome.target
    if target is None:
        return f"{limit:,}, {base_text(result.measure.limits)}"
    return f"the {'context window' if target > limit else 'target'} of {limit:,}"


def _advice_on_size(result: CompactResult) -> str:
    """Return the smallest size that can be reached, or what would free more."""
    size, after = result.outcome.conversation, result.outcome.after
    fixed = _fixed_tokens(result)
    if result.outcome.is_single and fixed >= result.limit:
        alone = f"of which system prompt, tools and overhead take {fixed:,}"
        return (
            f"stopped at {after.request_tokens:,} tokens, above the {result.limit:,} asked for, "
            f"{alone}; use --keep, or a larger --target"
        )
    is_protected = result.plan.protect.keep_turns != 0
    ways = "--keep-turns 0 or other --stages" if is_protected else "other --stages"
    advice = f"{ways} free more; --explain shows why each message stays"
    if not any(stage_named(r.name).fills_target and _has_tried(r) for r in result.stages):
        return advice
    share = result.options.recipe.plan.keep
    if share is None:
        asked, smallest = f"{result.limit:,}", f"{after.request_tokens:,} tokens"
    else:
        asked, smallest = percent_text(share), share_text(size.share)
    return f"stopped at {smallest}, above the {asked} asked for: the rest must stay; {advice}"


def _has_tried(record: StageRecord) -> bool:
    return record.outcome in ("applied", "skipped")


def _advice_on_nothing(result: CompactResult) -> Iterator[str]:
    """Yield why nothing was changed, and how to compact anyway."""
    if result.outcome.not_due:
        yield f"{result.outcome.not_due}; leave out --if-needed to compact anyway"
    elif (
        all(record.outcome == "not-needed" for record in result.stages)
        and result.judgment.is_within
    ):
        target = f"within the target of {result.limit:,} already"
        yield f"{target}; use --stages or a lower --target to compact anyway"


def _stage_table(result: CompactResult) -> Table:
    """Return a row per stage, and what the request holds less beside the messages."""
    before, after = result.outcome.sizes.before, result.outcome.sizes.after
    counted = result.outcome.before.tokens - result.outcome.after.tokens
    overhead = before - after - counted
    rows = [
        (record.name, f"{record.tokens_saved:,}", changes_text(record))
        for record in result.stages
        if record.outcome != "not-needed"
    ]
    if overhead:
        # The estimate of what is not in the transcript may grow although messages were removed.
        what = (
            "message overhead, hidden reasoning"
            if overhead > 0
            else "estimate of what is not in the transcript"
        )
        rows.append(("overhead", f"{overhead:,}", what))
    columns = (text("Stage"), number("Tokens saved"), text("Changes", "wrap", min_width=20))
    return table(columns, rows, ("total", f"{before - after:,}", ""))


def changes_text(record: StageRecord) -> str:
    """Return what a stage changed, or why it changed nothing."""
    detail = safe_text(" ".join(record.detail.split()))
    match record.outcome:
        case "applied":
            return ", ".join(map(_counted, detail.split(", "))) or counts_text(record)
        case "not-needed":
            return "not needed"
        case "rolled-back":
            return f"rolled back: {detail}"
        case _:
            return detail


def _counted(clause: str) -> str:
    """Return a note of a stage with its number first: 1 tool result cleared."""
    note, semicolon, more = clause.partition(";")
    match = _NOTE.fullmatch(note)
    if match is None:
        return clause
    what, count = match[1], match[2]
    if count == "1":
        what = _PLURAL.sub("", what, count=1)
    return f"{count} {what}{semicolon}{more}"


def counts_text(record: StageRecord) -> str:
    """Return how many messages a stage hid and shortened; "" for none."""
    changes = (
        f"{plural(record.hidden, 'message')} hidden" if record.hidden else "",
        f"{plural(record.replaced, 'message')} shortened" if record.replaced else "",
    )
    return ", ".join(filter(None, changes))


def _facts(result: CompactResult) -> Iterator[Fact]:
    """Yield what else has changed: what the client had compacted, the file, the prompt cache."""
    if result.undone:
        hidden = plural(sum(len(compaction.hidden) for compaction in result.undone), "message")
        yield Fact("redone", f"{hidden} that {result.format} had compacted")
    if any("unsentBytes" in record.figures for record in result.stages):
        sizes = map(size_text, (result.before.n_bytes, result.change.after.n_bytes))
        yield Fact("file", " → ".join(sizes))
    cache, pays_after = result.outcome.cache, result.requested.pays_after
    if cache and pays_after is not None:
        cached = f"{cache.held:,} tokens before line {cache.line + 1:,} stay cached"
        paid = f"pays off after {plural(pays_after, 'request')}"
        yield Fact("prompt cache", f"{cached}, {cache.resent:,} are sent again; {paid}")


def _stage(record: StageRecord, result: CompactResult) -> dict[str, Any]:
    """Return what a stage did; its counts are 0 if it did nothing."""
    from compactctl.views.results.audit import audit_fields

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


def _end(end: EarlierEnd | None) -> dict[str, Any] | None:
    return None if end is None else {"line": end.line + 1, "messagesLeftOut": end.left_out}


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
    yield from written_lines(written, result.change.after.n_bytes, result.before.n_bytes)
    if written.left_out_from is not None:
        path = path_name(result.options.input.path)
        yield labeled("left out", f"{path} from line {written.left_out_from:,} on, appended since")
    if written.archive:
        yield labeled("archive", line_text(written.archive))
    if result.options.archived_out:
        yield labeled("hidden", f"{line_text(result.options.archived_out)} (lines with their tags)")
    if result.change.operation:
        yield undo_line(written)
    yield from resume_lines(written.continue_with)


def rescue_terminal(result: RescueResult) -> Iterator[ScreenItem]:
    """Yield the output: the context before and after, and how to undo and resume it."""
    done = result.compacted
    if done.subject is not None:
        yield subject_text(done.subject)
    if done.end is not None:
        yield _end_text(done.end)
    yield _rescue_answer(result)
    yield from _remaining_lines(done)
    if result.uncounted:
        yield (
            f"{result.uncounted:,} tokens of these are from the error, not counted in the "
            "transcript"
        )
    yield from assumption_lines(done.measure, done.outcome.size)
    repairs = tuple(_repairs(done))
    if repairs:
        yield ""
        yield Facts(repairs)
    if done.compacted and not _only_repaired(done):
        yield ""
        yield _stage_table(done)
        facts = tuple(_facts(done))
        if facts:
            yield Facts(facts)
    lines = tuple(_rescue_lines(result))
    if lines or done.compacted:
        yield ""
        # Whole on their lines, to be copied.
        yield from map(Verbatim, lines)


def _end_text(end: EarlierEnd) -> str:
    """Return where a session continues: "continues from line 1,009, without 5 later messages"."""
    later = f", without {plural(end.left_out, 'later message')}" if end.left_out else ""
    return f"continues from line {end.line + 1:,}{later}"


def _repairs(result: CompactResult) -> Iterator[Fact]:
    """Yield the places of what was repaired, and what was done to them."""
    if result.compacted:
        lines = repaired_lines(result.faults, result.remaining)
        yield from (Fact(place, one_line(repaired)) for place, repaired in lines)


def _only_repaired(result: CompactResult) -> bool:
    used = [record.name for record in result.stages if record.outcome == "applied"]
    return used == [REPAIR]


def _remaining_lines(result: CompactResult) -> Iterator[str]:
    """Yield what will still be refused, and what the user can do, in a line each."""
    for fault in refused_among(unrepaired_faults(result.faults, result.remaining)):
        advice = f"; {fault.rule.advice}" if fault.rule.advice else ""
        yield f"{place_text(fault)}: {one_line(fault.text)} ({fault.rule.id}){advice}"


def _repair_answer(result: RescueResult) -> str:
    """Return how many records were fixed, and how many tokens were freed; "" for none."""
    done = result.compacted
    faults = repaired_faults(done.faults, done.remaining) if done.compacted else ()
    if not faults:
        return ""
    records = plural(len({(fault.line, fault.message) for fault in faults}), "record")
    verb = "would fix" if done.options.output.dry_run else "fixed"
    where = " in a new session" if done.options.output.fork is not None else ""
    if restored := sum(len(fault.island.messages) for fault in faults if fault.island):
        after = f"{result.tokens_after:,} tokens"
        return f"{verb} {records}{where}; {plural(restored, 'earlier record')} back: {after}"
    freed = max(0, result.tokens_before - result.tokens_after)
    return f"{verb} {records}{where}; {freed:,} tokens freed"


def _rescue_answer(result: RescueResult) -> Accent:
    if result.earlier is not None:
        details = result.earlier.details
        title = f' "{one_line(details.title)}"' if details.title else ""
        session = f"session {one_line(result.earlier.id)}{title}"
        return Accent(f"rescued before, as {session}; nothing was written", "bold")
    done, after = result.compacted, result.tokens_after
    if done.earlier is not None:
        session = line_text(done.earlier.forked_to or "")
        again = "nothing was written; --force writes another"
        return Accent(f"rescued before, as session {session}: {again}", "bold")
    remaining = tuple(fault for fault in done.remaining if fault.outlasts_prompt)
    if done.misses_error and not done.compacted:
        why = "the client may have fixed it, or sent what the transcript does not hold"
        return Accent(f"nothing was changed: {why}", "bold red")
    if remaining:
        return Accent(f"{verdict(remaining)}, {_whose_fix(done, remaining)}", "bold red")
    if (fixed := _repair_answer(result)) and _only_repaired(done):
        return Accent(fixed, "bold")
    limits = done.measure.limits
    free = limits.base_tokens - after
    base = f"{limits.base_tokens:,}, {base_text(limits)}"
    if limits.base == "client" and limits.client is not None:
        room = f"{free:,} free before {limits.client.name} compacts"
    else:
        room = f"{free:,} of {limits.base_tokens:,} free ({base_text(limits)})"
    state = room if free > 0 else f"still {-free:,} over {base}"
    if done.unread and free > 0:
        changed = f"{result.tokens_before:,} → " if done.compacted else ""
        size = f"{changed}at least {after:,} tokens"
        return Accent(f"{size}: unknown how much is free ({base})", "bold")
    if not _is_changed(done):
        what = "nothing to rescue" if free >= 0 else "nothing can be removed"
        return Accent(f"{what}: {after:,} tokens, {state}", "bold" if free >= 0 else "bold red")
    style: TextStyle = "bold" if free > 0 else "bold red"
    return Accent(f"{result.tokens_before:,} → {after:,} tokens: {state}", style)


def _whose_fix(result: CompactResult, remaining: Iterable[Fault]) -> str:
    """Return what helps against what will still be refused: appending changes no record."""
    is_appended = result.options.output.layout == "native"
    if is_appended and any(fault.rule.repaired for fault in remaining):
        return "which appending cannot fix; leave out --native"
    return "which only you can fix"


def _rescue_lines(result: RescueResult) -> Iterator[str]:
    done = result.compacted
    if result.earlier is not None:
        again = typed_command("compactctl rescue", done.options.input.reference, ["--force"])
        yield labeled("again", again)
    if done.written is not None:
        yield from written_lines(done.written)
        yield undo_line(done.written)
    smaller = _smaller_target(result)
    if smaller is not None:
        options = ["--target", f"{smaller}k"]
        command = typed_command("compactctl rescue", done.options.input.reference, options)
        yield labeled("smaller", command)
    yield from resume_lines(result.continue_with)


def _smaller_target(result: RescueResult) -> int | None:
    """Return about half the size in thousands of tokens, if there was no need to free any.

    None if half of it is mostly what is sent beside the conversation.
    """
    done, half = result.compacted, result.tokens_after // 2
    if result.earlier is not None or done.earlier is not None or done.remaining:
        return None
    is_larger = _is_changed(done) or half < 2 * _fixed_tokens(done)
    if is_larger or result.tokens_after > done.measure.limits.base_tokens:
        return None
    thousands = half // 1_000
    return thousands - thousands % 10 ** (len(str(thousands)) - 1) or None


def _is_changed(result: CompactResult) -> bool:
    return result.compacted or result.end is not None or result.written is not None


def rescue_document(result: RescueResult) -> dict[str, Any]:
    """Return how to resume, with the document of ``compact``."""
    return {
        "schema": "compactctl.rescue/1",
        "path": result.compacted.options.input.path,
        "continueWith": result.continue_with,
        "earlier": None if result.earlier is None else result.earlier.id,
        "uncountedTokens": result.uncounted,
        **verdict_fields(result.judgment),
        "compact": compact_document(result.compacted),
    }


def rescue_messages(result: RescueResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, and whether nothing was written."""
    done = result.compacted
    yield from warning_lines(done.warnings)
    if done.options.output.dry_run and result.earlier is None:
        yield from _dry_run_lines(done)
