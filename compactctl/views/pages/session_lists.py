"""Lists on a session's page: the parts of its next request, and the files it read again."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.timeline import Timeline, TimelineFile, TimelineMessage
from compactctl.views.pages.drawing import Bar, BarList, across, class_of, percent
from compactctl.views.pages.page import PageNames
from compactctl.views.results.request import unseen_rows
from compactctl.views.terminal.text import one_line, plural, share_text

_MAX_ROWS = 10
# A larger share of a request without an explanation gets one.
_MAX_UNEXPLAINED = 0.1
# Characters of a message that are shown while it is folded.
_PREVIEW_CHARS = 90
# A browser has to lay out every message on a page, so a page has at most this many.
MAX_MESSAGES = 4_000


def request_rows(result: StatsResult) -> dict[str, int]:
    """Return the tokens of the next request by category, largest first, the counting error last."""
    rows = (*result.categories.items(), *unseen_rows(result))
    ordered = sorted(rows, key=lambda row: (row[0] == "unexplained", -row[1]))
    return {name: tokens for name, tokens in ordered if tokens}


def request_segments(
    rows: Mapping[str, int], tokens: int, total_tokens: int
) -> list[dict[str, object]]:
    """Return the rows as segments of a bar of ``total_tokens``, of which ``tokens`` are filled.

    A negative error cannot be drawn; it shortens the other segments.
    """
    sizes = {name: size for name, size in rows.items() if size > 0}
    share = tokens / max(1, sum(sizes.values()))
    segments: list[dict[str, object]] = []
    offset = 0.0
    for name, size in sizes.items():
        width = percent(size * share, total_tokens)
        segments.append({"name": name, "at": round(offset, 3), "width": width, "tokens": size})
        offset += width
    return segments


def category_bars(rows: Mapping[str, int]) -> BarList:
    """Return the categories of the next request as bars.

    Shares are of the positive rows, which add up to more than the request if one is negative.
    """
    largest = max((*rows.values(), 1))
    parts = sum(tokens for tokens in rows.values() if tokens > 0)
    return BarList(
        title="By category",
        note="",
        rows=tuple(
            Bar(
                label=name,
                figure=f"{tokens:,}",
                note=share_text(tokens / parts) if tokens > 0 else "",
                width=percent(max(0, tokens), largest),
                name=class_of(name),
            )
            for name, tokens in rows.items()
        ),
    )


def disagreement_text(rows: Mapping[str, int]) -> str:
    """Return why the parts of a request do not add up to it; "" if they nearly do."""
    unexplained, total = rows.get("unexplained", 0), sum(rows.values())
    if abs(unexplained) <= _MAX_UNEXPLAINED * total:
        return ""
    if unexplained > 0:
        return (
            f"No part explains {unexplained:,} tokens: the file does not contain everything that "
            "was sent, or the counter does not match the model."
        )
    return (
        f"The parts count {total - unexplained:,} tokens, more than the {total:,} of the request: "
        "not all of them were sent, or the counter does not match the model. Shares are of the "
        "counted tokens."
    )


def tool_bars(result: StatsResult, names: PageNames) -> BarList:
    """Return the tools by the tokens of their calls and results."""
    uses = [(use.call_tokens + use.result_tokens, use) for use in result.breakdown.tools]
    largest = max((tokens for tokens, _ in uses), default=1)
    rows = tuple(
        Bar(
            label=names.tool(use.tool),
            figure=f"{tokens:,}",
            note=plural(use.calls, "call")
            + (f", {plural(use.errors, 'error')}" * bool(use.errors)),
            width=percent(tokens, largest),
            name=class_of("tool results"),
        )
        for tokens, use in uses[:_MAX_ROWS]
    )
    others = [tokens for tokens, _ in uses[_MAX_ROWS:]]
    return BarList(
        title="By tool",
        note="Calls and results.",
        rows=rows,
        rest=_rest_text(others, "tool"),
    )


def file_bars(timeline: Timeline, names: PageNames) -> BarList:
    """Return the files by the tokens of their reads."""
    files = [file for file in timeline.files if file.tokens]
    largest = max((file.tokens for file in files), default=1)
    rows = tuple(
        Bar(
            label=names.file(file.path),
            figure=f"{file.tokens:,}",
            note=plural(len(file.reads), "read"),
            width=percent(file.tokens, largest),
            name=class_of("file reads"),
            target=anchor_of(file.reads[-1]),
        )
        for file in files[:_MAX_ROWS]
    )
    others = [file.tokens for file in files[_MAX_ROWS:]]
    return BarList(
        title="By file",
        note="File reads in the next request.",
        rows=rows,
        rest=_rest_text(others, "file"),
        paths=True,
    )


def message_bars(timeline: Timeline, names: PageNames) -> BarList:
    """Return the largest messages of the next request."""
    sent = [(index, message) for index, message in enumerate(timeline.messages) if message.is_sent]
    largest = nlargest(_MAX_ROWS, sent, key=lambda row: (row[1].tokens, -row[0]))
    widest = max((message.tokens for _, message in largest), default=1)
    listed = {index for index, _ in largest}
    return BarList(
        title="By message",
        note="",
        rows=tuple(
            Bar(
                label=f"{_position_text(timeline, index)} · {_kind_text(message, names)}",
                figure=f"{message.tokens:,}",
                width=percent(message.tokens, widest),
                name=class_of(message.category),
                target=anchor_of(index),
            )
            for index, message in largest
        ),
        rest=_rest_text(
            [message.tokens for index, message in sent if index not in listed], "message"
        ),
    )


def _rest_text(sizes: Sequence[int], noun: str) -> str:
    if not sizes:
        return ""
    return f"{plural(len(sizes), f'other {noun}')}: {sum(sizes):,} tokens"


def _kind_text(message: TimelineMessage, names: PageNames) -> str:
    return ", ".join((message.message.role, *map(names.tool, message.tools)))


def read_rows(timeline: Timeline, names: PageNames) -> tuple[list[dict[str, object]], int]:
    """Return the files that were read most often, and the number of other files read again."""
    reread = [file for file in timeline.files if len(file.reads) > 1]
    reread.sort(key=lambda file: (-len(file.reads), -file.tokens, file.path))
    rows = [_read_row(file, timeline, names) for file in reread[:_MAX_ROWS]]
    return rows, max(0, len(reread) - _MAX_ROWS)


def _read_row(file: TimelineFile, timeline: Timeline, names: PageNames) -> dict[str, object]:
    """Return the reads of a file: the position in percent, and whether a later read repeats it."""
    covered = len(file.covered)
    note = f"{len(file.reads):,} reads" + (f", {covered:,} repeated later" if covered else "")
    count = max(1, len(timeline.rounds.rounds))
    reads = tuple(
        (
            across((timeline.messages[index].first_round or count) - 1, count),
            index in file.covered,
            anchor_of(index),
        )
        for index in file.reads
    )
    return {"name": names.file(file.path), "reads": reads, "note": note}


def _position_text(timeline: Timeline, index: int) -> str:
    """Return the position of a message: its line, or its number if all are on one line."""
    lines = timeline.messages[index].message.line, timeline.messages[-1].message.line
    if lines == (0, 0):
        return f"message {index + 1:,}"
    return f"line {lines[0] + 1:,}"


def anchor_of(index: int) -> str:
    """Return the anchor of a message on its page."""
    return f"m{index + 1}"


def listed_messages(timeline: Timeline) -> list[int]:
    """Return the indices of the listed messages: all, or the largest if there are many."""
    indices = range(len(timeline.messages))
    if len(indices) <= MAX_MESSAGES:
        return list(indices)
    return sorted(
        nlargest(MAX_MESSAGES, indices, key=lambda index: timeline.messages[index].tokens)
    )


def message_rows(
    timeline: Timeline, indices: Iterable[int], texts: Iterable[str], names: PageNames
) -> list[dict[str, object]]:
    """Return the messages with their texts."""
    largest = max((message.tokens for message in timeline.messages), default=1)
    files = _files_by_message(timeline, names)
    return [
        {
            "anchor": anchor_of(index),
            "data": row_data(
                tokens=[f"{timeline.messages[index].tokens}"],
                category=[timeline.messages[index].category],
                tool=map(names.tool, timeline.messages[index].tools),
                file=files.get(index, ()),
            ),
            "place": _position_text(timeline, index),
            "role": timeline.messages[index].message.role,
            "says": one_line(text, _PREVIEW_CHARS)
            or ", ".join(map(names.tool, timeline.messages[index].tools)),
            "name": class_of(timeline.messages[index].category),
            "tokens": timeline.messages[index].tokens,
            "width": percent(timeline.messages[index].tokens, largest),
            "is_sent": timeline.messages[index].is_sent,
            "text": text,
        }
        for index, text in zip(indices, texts, strict=True)
    ]


def _files_by_message(timeline: Timeline, names: PageNames) -> Mapping[int, list[str]]:
    """Return the names of the files that each message shows."""
    files: dict[int, list[str]] = defaultdict(list)
    for file in timeline.files:
        for index in dict.fromkeys(file.reads):
            files[index].append(names.file(file.path))
    return files


def row_data(**values: Iterable[str]) -> dict[str, str]:
    """Return the attributes by which the script sorts and filters a row; no value has two lines."""
    return {f"data-{name}": text for name, lines in values.items() if (text := "\n".join(lines))}
