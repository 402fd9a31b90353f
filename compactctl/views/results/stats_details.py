"""Where the figures of ``stats`` come from, and what else is in the file."""

from collections.abc import Iterator

from compactctl.commands.inspect.stats import StatsResult
from compactctl.model.transcript import Opaque
from compactctl.tokens.fit import fit_of
from compactctl.views.facts import counter_text, health_facts, model_text, window_facts
from compactctl.views.terminal.screen import Fact, Facts, ScreenItem
from compactctl.views.terminal.tables import number, table, text
from compactctl.views.terminal.text import (
    one_line,
    path_name,
    plural,
    share_text,
    size_text,
)

_UNKNOWN_CLIENT = "unknown; all text of user messages counts as typed"
_SHOWN_TOOLS = 8
_SHOWN_FILES = 5
_SHOWN_KINDS = 6
_SHOWN_LINES = 5


def stats_details(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield how the figures were measured, then what uses most of the tokens."""
    yield Facts(tuple(_measuring_facts(result)))
    yield from _all_conversations(result)
    yield from _largest_messages(result)
    yield from _tool_uses(result)
    yield from _repeated_reads(result)
    yield from _unsent_records(result)


def _measuring_facts(result: StatsResult) -> Iterator[Fact]:
    transcript, size = result.transcript, result.size
    lines = plural(transcript.n_lines, "line")
    path = path_name(result.options.input.path)
    yield Fact("file", f"{path} ({lines}, {size_text(transcript.n_bytes)})")
    yield Fact("model", model_text(result.measure).removeprefix("model "))
    if transcript.session.client is not None:
        yield Fact("client", transcript.session.client or _UNKNOWN_CLIENT)
    yield Fact("counted with", f"{counter_text(result.measure)}{_exceptions(result)}")
    if result.reported is not None:
        yield Fact("last reported", f"{result.reported:,} tokens by the provider")
    if size.source:
        yield Fact("not in transcript", size.source)
    if size.usual is not None:
        about = size.total + size.usual.usual
        yield Fact("next request", f"about {about:,} with system prompt and tools (estimate)")
    yield from window_facts(result.measure)
    yield from _limit_facts(result)
    yield from health_facts(result.health)
    yield Fact("steps", f"{result.counts.steps:,}")


def _limit_facts(result: StatsResult) -> Iterator[Fact]:
    limits = result.measure.limits
    fit = fit_of(result.usage.tokens, limits)
    if limits.client is not None:
        yield Fact(limits.client.name, f"compacts at {limits.compacts_at:,}")
    if fit.max_answer is not None:
        where = "beside the window" if limits.budget.is_input_only and fit.fits else "left"
        yield Fact("for the answer", f"{fit.max_answer:,} tokens {where}")


def _exceptions(result: StatsResult) -> str:
    """Return which counts differ in exactness from the others, and what no file contains."""
    is_mixed = result.measure.counter.exactness != "estimate"
    has_media = bool(result.breakdown.categories["media"])
    added = result.extras.by_client
    media = "; media are estimated by size" if is_mixed and has_media else ""
    return media + (f"; {plural(added, 'token')} added by the client (estimate)" if added else "")


def _all_conversations(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield what several conversations contain together."""
    if result.counts.conversations <= 1:
        return
    total = result.breakdown.total
    yield ""
    yield f"All {result.counts.conversations:,} conversations"
    yield table(
        (text(""), number("Tokens"), number("Share")),
        (
            (name, f"{tokens:,}", share_text(tokens / total))
            for name, tokens in result.breakdown.categories.items()
            if tokens
        ),
        ("total", f"{total:,}", ""),
    )


def _largest_messages(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the largest messages."""
    if not result.breakdown.largest:
        return
    yield from _title("Largest messages", len(result.breakdown.largest), result.counts.messages)
    yield table(
        (number("Tokens"), number("Line"), text("Role"), text("Tool", "end")),
        [
            (f"{row.tokens:,}", _line_text(row.line), row.role, one_line(", ".join(row.tools)))
            for row in result.breakdown.largest
        ],
    )


def _title(what: str, shown: int, count: int) -> Iterator[str]:
    yield ""
    yield what if shown == count else f"{what} ({shown:,} of {count:,})"


def _line_text(line: int) -> str:
    """Return a line's number; parts counted in addition to the transcript have none."""
    return str(line + 1) if line >= 0 else "added"


def _tool_uses(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the tools with the most tokens."""
    tools = result.breakdown.tools
    if not tools:
        return
    yield from _title("Tools", min(len(tools), _SHOWN_TOOLS), len(tools))
    columns = (
        text("Tool", "end"),
        number("Calls"),
        number("Call tokens", spare=2),
        number("Result tokens"),
        number("Errors", spare=1),
    )
    yield table(
        columns,
        [
            (
                one_line(use.tool) or "(unnamed)",
                f"{use.calls:,}",
                f"{use.call_tokens:,}",
                f"{use.result_tokens:,}",
                f"{use.errors:,}",
            )
            for use in tools[:_SHOWN_TOOLS]
        ],
    )


def _repeated_reads(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the files that were read more than once."""
    files = result.breakdown.rereads
    if not files:
        return
    yield from _title("Files read more than once", min(len(files), _SHOWN_FILES), len(files))
    columns = (
        number("Reads"),
        number("Identical", spare=1),
        number("Tokens in older reads"),
        text("File", "start", min_width=20),
    )
    yield table(
        columns,
        [
            (f"{file.reads:,}", f"{file.identical:,}", f"{file.tokens:,}", one_line(file.path))
            for file in files[:_SHOWN_FILES]
        ],
    )


def _unsent_records(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the records in the file that are never sent to the model."""
    rows = list(_outside_rows(result))
    if rows:
        columns = (number("Records"), number("Bytes"), text("What", "end", min_width=20))
        yield ""
        yield "In the file, but never sent to the model"
        yield table(columns, rows)
    text_bytes, n_bytes = result.counts.text_bytes, result.transcript.n_bytes
    share = share_text(text_bytes / max(1, n_bytes))
    yield ""
    yield (
        f"{size_text(text_bytes)} ({share}) of {size_text(n_bytes)} on disk is text that the "
        "model reads"
    )


def _outside_rows(result: StatsResult) -> Iterator[tuple[str, str, str]]:
    transcript = result.transcript
    hidden = len(transcript.messages) - len(transcript.history)
    omitted = len(transcript.history) - len(transcript.effective)
    if omitted > 0 and result.options.scope == "effective":
        yield f"{omitted:,}", "", "messages that the client leaves out of requests"
    if hidden > 0 and result.options.scope == "effective":
        yield f"{hidden:,}", "", "messages hidden, compacted or on other branches"
    volumes = sorted(transcript.metadata.items(), key=lambda item: (-item[1].n_bytes, item[0]))
    for kind, volume in volumes[:_SHOWN_KINDS]:
        yield f"{volume.count:,}", size_text(volume.n_bytes), one_line(kind)
    others = [volume for _, volume in volumes[_SHOWN_KINDS:]]
    if others:
        count, n_bytes = sum(v.count for v in others), sum(v.n_bytes for v in others)
        yield f"{count:,}", size_text(n_bytes), f"of {plural(len(others), 'other kind')}"
    if transcript.opaque:
        n_bytes = sum(opaque.n_bytes for opaque in transcript.opaque)
        what = f"not recognized, kept unchanged: {_opaque_lines(transcript.opaque)}"
        yield f"{len(transcript.opaque):,}", size_text(n_bytes), what


def _opaque_lines(opaque: tuple[Opaque, ...]) -> str:
    lines = list(dict.fromkeys(record.line + 1 for record in opaque))
    shown = ", ".join(map(str, lines[:_SHOWN_LINES]))
    more = f" and {len(lines) - _SHOWN_LINES} more" if len(lines) > _SHOWN_LINES else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"
