"""A batch as a page of Markdown, such as the summary of a job."""

import re
from collections.abc import Iterator

from compactctl.commands.batch.batch import BatchResult
from compactctl.reports.rendering.batch_rows import finding, status_text, worst
from compactctl.reports.rendering.text import line_text, plural, share_text, size_text

_STATUSES = ("ok", "unchanged", "over", "flagged", "failed", "skipped")
# What Markdown or HTML in it would take for markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@:-])")
_LONGEST = 300


def batch_markdown(result: BatchResult) -> str:
    """Return a page with totals and the worst files; texts from outside are shown as they are."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: BatchResult) -> Iterator[str]:
    totals = result.totals
    counts = (
        f"{getattr(totals, name):,} {status_text(name)}"
        for name in _STATUSES
        if getattr(totals, name)
    )
    yield "## compactctl batch"
    yield ""
    yield "| | |"
    yield "| --- | ---: |"
    yield f"| files | {plural(totals.files, 'file')}: {', '.join(counts)} |"
    yield f"| on disk | {size_text(totals.bytes)} |"
    if totals.tokens_before is None:
        yield f"| tokens | not added up: counted with {', '.join(totals.counters)} |"
    else:
        yield f"| tokens | {totals.tokens_before:,} |"
    if totals.saved is not None and totals.tokens_before is not None:
        share = share_text(totals.saved / max(1, totals.tokens_before))
        yield f"| saved | {totals.saved:,} ({share}) |"
    yield f"| exit code | {result.exit_code} |"
    found = worst(result.rows)
    if found:
        yield ""
        yield "| file | status | why |"
        yield "| --- | --- | --- |"
        yield from (
            f"| {_plain(row.path)} | {row.status} | {_plain(finding(row, result.fail_on))} |"
            for row in found
        )


def _plain(text: str) -> str:
    shown = line_text(text)
    cut = f"{shown[:_LONGEST]}…" if len(shown) > _LONGEST else shown
    return _MARKUP.sub(r"\\\1", cut)
