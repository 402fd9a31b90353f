"""File reads in a conversation: the file text in their results, and later reads that cover them."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice, takewhile
from math import inf
from typing import Any

from compactctl.history.pairs import PartIndex, iter_parts, iter_results, tool_pairs
from compactctl.history.read_calls import (
    NO_EXTRA_TOOLS,
    ExtraReadTools,
    LineRange,
    ReadRequest,
    edited_paths,
    read_request,
)
from compactctl.history.tool_names import kind_of
from compactctl.model.json_parser import parse_json
from compactctl.model.message import Message, MessageId, ToolCallPart, ToolResultPart
from compactctl.records import Record

# Headers that clients put before the content: OpenCode, OpenHands and SWE-agent, Codex.
_HEADERS = (
    re.compile(r"<path>[^\n]*</path>\n<type>file</type>\n<content>\n?"),
    re.compile(r"<file>\n"),
    re.compile(r"Here's the result of running `cat -n` on [^\n]*:\n"),
    re.compile(
        r"(?:Chunk ID: [^\n]*\n)?(?:Exit code: 0\n)?Wall time: [^\n]*\n"
        r"(?:Process exited with code 0\n)?(?:Original token count: \d+\n)?"
        r"(?:Total output lines: \d+\n)?Output:\n"
    ),
)
# Footers after it: OpenCode, pi.
_FOOTERS = (
    re.compile(r"\n*\((?:End of file|File has more lines)[^\n]*\)\n</(?:content|file)>\s*\Z"),
    re.compile(r"\n\[(?:Showing lines |\d+ more lines )[^\n]*\]\s*\Z"),
)
_TAIL = 500
# "   12→" and "12<tab>" (Claude Code), "00012| " and "12: " (OpenCode), "12. " (Copilot CLI).
_NUMBER = re.compile(r"[ 0]*(\d{1,9})(→|\t|\||: |\. )")
_REMINDER = ("<system-reminder>", "</system-reminder>")
# One line, shorter than this, in place of a file's content: the file is empty (VS Code, forks of
# Claude Code), has not changed since an earlier read (Claude Code), ends before the requested lines
# (Claude Code, OpenCode, pi, Codex), or could not be read (formats that do not mark errors).
_MAX_NOTICE = 400
_NOTICE = re.compile(
    r"\b(?:file|contents?)\b.*\b(?:is|are) empty\b|\bempty file\b|\bonly whitespace\b"
    r"|\bunchanged since\b"
    r"|\bshorter than the (?:provided )?offset\b|\bout of range\b|\bexceeds (?:the )?file length\b"
    r"|\b(?:beyond|past|exceeds) (?:the )?end of (?:the )?file\b"
    r"|\A\W*(?:error|failed|cannot|could not)\b|\bno such file\b|\bnot found\b|\bdoes not exist\b"
    r"|\bpermission denied\b|\bis a directory\b",
    re.IGNORECASE,
)
# Roo Code and Kilo Code write this and a notice for an empty file.
_NO_CONTENT = "<content/>"

DEFAULT_STUB = "[File {path} - refer to latest read below]"
_STUB = re.compile(r"\[File .* - refer to latest read below\]", re.DOTALL)
# Placeholders by stages of compactctl and by known clients, with nothing of the file in them.
_CLEARED = re.compile(
    r"\[(?:Old )?[Tt]ool result (?:content )?cleared\]|\[Tool result truncated\b[^\n]*\]"
    r"|\[Compacted history content evicted\b[^\n]*\]"
)


def file_content(text: str, *, numbered: bool) -> str:
    """Return the file's text: no headers, footers, reminders and, if ``numbered``, line numbers.

    Line numbers are removed only if every line has one and they are consecutive. Trailing line
    breaks are removed too, because clients differ in them.
    """
    text = _without_reminders(_without_json_wrapper(text))
    for header in _HEADERS:
        text = header.sub("", text, count=1) if header.match(text) else text
    for footer in _FOOTERS:
        tail = max(0, len(text) - _TAIL)
        text = text[:tail] + footer.sub("", text[tail:])
    text = text.rstrip("\n")
    return _without_numbers(text).rstrip("\n") if numbered else text


def is_notice(body: str) -> bool:
    """Whether a body shows nothing of a file: it is blank, or a notice by the client."""
    body = body.strip()
    if len(body) >= _MAX_NOTICE:
        return False
    return not body or _NO_CONTENT in body or ("\n" not in body and bool(_NOTICE.search(body)))


def _without_json_wrapper(text: str) -> str:
    # Codex up to 0.5x stored {"output": ..., "metadata": {...}} as the result's text.
    if not text.startswith('{"output":'):
        return text
    try:
        value: Any = parse_json(text)
    except ValueError:
        return text
    return value["output"] if isinstance(value["output"], str) else text


def _without_reminders(text: str) -> str:
    start, end = _REMINDER
    while text.rstrip().endswith(end) and start in text:
        text = text[: text.rindex(start)].rstrip()
    return text


def _without_numbers(text: str) -> str:
    first = _NUMBER.match(text)
    if first is None:
        return text
    separator, lines = first[2], []
    for number, line in enumerate(text.split("\n"), int(first[1])):
        bare = line.lstrip(" 0")
        prefix = f"{number}{separator}"
        if not bare.startswith(prefix):
            return text
        lines.append(bare[len(prefix) :])
    return "\n".join(lines)


class FileRead(Record, dict=True, gc=True):
    """A tool result that shows a file.

    ``part_index`` is the position of the result, ``path`` is relative to the working folder if
    inside it, ``requested_lines`` is None for the whole file, ``text`` is that of the result.
    """

    part_index: PartIndex
    message: MessageId
    tool: str
    path: str
    requested_lines: LineRange | None
    text: str

    @cached_property
    def body(self) -> str:
        """The file's text."""
        return file_content(self.text, numbered=kind_of(self.tool) != "shell")

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of ``body``."""
        return tuple(self.body.split("\n"))

    @property
    def shows_content(self) -> bool:
        """Whether anything of the file was shown; False for an empty file or lines past its end."""
        return not is_notice(self.body)


class FileEdit(Record, kw_only=False):
    """A tool call that changes a file; ``part_index`` is the position of the call."""

    part_index: PartIndex
    path: str


def stub_for(path: str, notice: str = DEFAULT_STUB) -> str:
    """Return the stub that replaces an older read of a file and refers to the newest one."""
    return notice.replace("{path}", path)


def is_stub(text: str, path: str | None = None) -> bool:
    """Whether a tool result's text is such a stub.

    For a read of ``path``, a single line in brackets that contains the path is one too.
    """
    if _STUB.fullmatch(text) is not None:
        return True
    names_path = path is not None and path in text and "\n" not in text
    return names_path and text.startswith("[") and text.endswith("]")


def find_file_reads(
    messages: Sequence[Message],
    *,
    cwd: str | None = None,
    extra_tools: ExtraReadTools = NO_EXTRA_TOOLS,
) -> tuple[FileRead, ...]:
    """Return the file reads in order, without errors, cleared results, stubs and media."""
    return tuple(
        FileRead(
            part_index=index,
            message=messages[index.message].id,
            tool=call.tool,
            path=request.path,
            requested_lines=request.lines,
            text=part.text,
        )
        for index, part, call, request in _requested_reads(
            messages, cwd, extra_tools, _may_show_content
        )
        if not is_stub(part.text, request.path)
    )


def find_file_edits(messages: Sequence[Message], *, cwd: str | None = None) -> tuple[FileEdit, ...]:
    """Return the calls that write, edit or patch files, in order; one entry per call and file."""
    return tuple(
        FileEdit(index, path)
        for index, part in iter_parts(messages)
        if isinstance(part, ToolCallPart)
        for path in edited_paths(part, cwd=cwd)
    )


def covers(newer: FileRead, older: FileRead) -> bool:
    """Whether ``newer`` contains everything that ``older`` shows, as one block of whole lines.

    A read that shows nothing, such as of an empty file, is not covered by any other.
    """
    if not older.shows_content:
        return False
    return older.body == newer.body or _as_whole_lines(older.body) in _as_whole_lines(newer.body)


def find_superseded(reads: Sequence[FileRead]) -> dict[PartIndex, FileRead]:
    """Map the position of every read that later reads of its file cover to the newest of them."""
    superseded: dict[PartIndex, FileRead] = {}
    groups = (group for group in group_by_path(reads).values() if len(group) > 1)
    for reads_of_file in groups:
        for read, candidates in zip(reads_of_file, _possible_covers(reads_of_file), strict=True):
            newest = next((candidate for candidate in candidates if covers(candidate, read)), None)
            if newest is not None:
                superseded[read.part_index] = newest
    return superseded


def _possible_covers(reads_of_file: Sequence[FileRead]) -> Iterator[Iterator[FileRead]]:
    """Yield, for each read of a file, the later ones that show its rarest line, newest first.

    Only these can cover it. Comparing every read with every later one takes hours.
    """
    holders: dict[str, list[FileRead]] = {}
    for read in reads_of_file:
        for line in set(read.lines):
            holders.setdefault(line, []).append(read)
    for read in reads_of_file:
        rarest = min((holders[line] for line in read.lines), key=len)
        yield takewhile(partial(_is_after, read), reversed(rarest))


def _is_after(older: FileRead, newer: FileRead) -> bool:
    return newer.part_index > older.part_index


def group_by_path(reads: Sequence[FileRead]) -> dict[str, list[FileRead]]:
    """Group reads by path; groups and reads keep their order."""
    grouped: dict[str, list[FileRead]] = {}
    for read in reads:
        grouped.setdefault(read.path, []).append(read)
    return grouped


def stub_targets(messages: Sequence[Message], *, cwd: str | None = None) -> frozenset[PartIndex]:
    """Return the reads that stubs refer to: for each stub, the newest later read of its lines.

    If no later read requests the stub's lines, it is the newest read of the file.
    """
    stubs = [
        (index, request)
        for index, part, _, request in _requested_reads(messages, cwd, NO_EXTRA_TOOLS, _may_be_stub)
        if is_stub(part.text, request.path)
    ]
    shown = (
        (read for read in find_file_reads(messages, cwd=cwd) if read.shows_content) if stubs else ()
    )
    reads = group_by_path(tuple(shown))
    newest_by_request = {
        request: _newest_reads(request, reads.get(request.path, ())) for _, request in stubs
    }
    later_reads = (
        [read_index for read_index in newest_by_request[request] if read_index > index]
        for index, request in stubs
    )
    return frozenset(indices[0] for indices in later_reads if indices)


def _may_be_stub(part: ToolResultPart) -> bool:
    text = part.text
    return text.startswith("[") and text.endswith("]") and not _CLEARED.fullmatch(text)


def _newest_reads(request: ReadRequest, reads_of_file: Sequence[FileRead]) -> list[PartIndex]:
    """Return the newest read of a file that covers the request, if any, then the newest of all."""
    covering = (
        read
        for read in reversed(reads_of_file)
        if request_covers(read.requested_lines, request.lines)
    )
    return [read.part_index for read in (*islice(covering, 1), *reads_of_file[-1:])]


def _requested_reads(
    messages: Sequence[Message],
    cwd: str | None,
    extra_tools: ExtraReadTools,
    predicate: Callable[[ToolResultPart], bool],
) -> Iterator[tuple[PartIndex, ToolResultPart, ToolCallPart, ReadRequest]]:
    results = [(index, part) for index, part in iter_results(messages) if predicate(part)]
    pairs = tool_pairs(messages) if results else {}
    for index, part in results:
        call_index = pairs.get(index)
        call = messages[call_index.message].parts[call_index.part] if call_index else None
        if isinstance(call, ToolCallPart):
            request = read_request(call, cwd=cwd, extra_tools=extra_tools)
            if request is not None:
                yield index, part, call, request


def _may_show_content(part: ToolResultPart) -> bool:
    return not (part.has_failed or part.media or is_cleared(part))


def is_cleared(part: ToolResultPart) -> bool:
    """Whether a result was replaced by a placeholder of a stage or of a known client."""
    return part.cleared or _CLEARED.fullmatch(part.text.strip()) is not None


def request_covers(newer: LineRange | None, older: LineRange | None) -> bool:
    """Whether ``newer`` lines of a file include all ``older`` ones; None is the whole file."""
    return newer is None if older is None else older.is_within(newer)


def _as_whole_lines(body: str) -> str:
    return f"\n{body}\n"


def newest_covering_reads(reads_of_file: Sequence[FileRead]) -> Mapping[LineRange | None, FileRead]:
    """Map each requested range to the newest of a file's reads that requests all of its lines.

    Reads of 20-40, 1-100 and 1-50, in this order:
        20-40 -> the third    1-100 -> the second    1-50 -> the third
    """
    newest = {read.requested_lines: read for read in reads_of_file}
    covering: dict[LineRange | None, FileRead] = {}
    # A sweep over the ranges by their first line. ``ends`` and ``reads`` are the ranges so far that
    # no newer one includes, by their last line: the further the end, the older the read.
    ends: list[float] = []
    reads: list[FileRead] = []
    for lines in sorted(newest, key=_widest_first):
        read, end = newest[lines], _line_bounds(lines)[1]
        pos = bisect_left(ends, end)
        if pos < len(reads) and reads[pos].part_index > read.part_index:
            covering[lines] = reads[pos]
            continue
        covering[lines] = read
        stop = pos + (pos < len(ends) and ends[pos] == end)
        while pos and reads[pos - 1].part_index < read.part_index:
            pos -= 1
        ends[pos:stop], reads[pos:stop] = [end], [read]
    return covering


def _widest_first(lines: LineRange | None) -> tuple[float, float]:
    first, last = _line_bounds(lines)
    return first, -last


def _line_bounds(lines: LineRange | None) -> tuple[float, float]:
    """Return the first and the last line; the whole file includes every range."""
    if lines is None:
        return -inf, inf
    return lines.first, inf if lines.last is None else lines.last
