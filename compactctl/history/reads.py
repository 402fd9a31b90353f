"""File reads in a conversation, and which of them a later read makes superfluous."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from math import inf
from typing import Any

from compactctl.history.pairs import PartIndex, iter_parts, tool_pairs
from compactctl.history.read_calls import (
    NO_EXTRA_TOOLS,
    ExtraReadTools,
    LineRange,
    ReadRequest,
    edited_paths,
    read_request,
)
from compactctl.history.tool_names import kind_of
from compactctl.model.message import Message, MessageId, ToolCallPart, ToolResultPart

# What clients put in front of the content: OpenCode, OpenHands and SWE-agent, Codex.
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
# What they put behind it: OpenCode, pi.
_FOOTERS = (
    re.compile(r"\n*\((?:End of file|File has more lines)[^\n]*\)\n</(?:content|file)>\s*\Z"),
    re.compile(r"\n\[(?:Showing lines |\d+ more lines )[^\n]*\]\s*\Z"),
)
_TAIL = 500
# "   12→" and "12<tab>" (Claude Code), "00012| " and "12: " (OpenCode), "12. " (Copilot CLI).
_NUMBER = re.compile(r"[ 0]*(\d+)(→|\t|\||: |\. )")
_REMINDER = ("<system-reminder>", "</system-reminder>")
# What clients say in place of a file's content, in one line, shorter than this: of an empty file
# (VS Code, Claude Code's kin), of a file that has not changed since an earlier read (Claude Code),
# of lines behind its end (Claude Code, OpenCode, pi, Codex), and of one that could not be read,
# where a format has no mark for errors.
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
# Roo Code and Kilo Code write this, and a notice behind it, for an empty file.
_NO_CONTENT = "<content/>"


def file_content(text: str, *, numbered: bool) -> str:
    """Return the file's text: no headers, footers, reminders and, if ``numbered``, line numbers.

    Line numbers go only when every line has one, each one more than the last. Line breaks at the
    end go too, because clients differ in them.
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
    """Whether nothing of a file is shown: the content is blank, or the client's own words."""
    body = body.strip()
    if len(body) >= _MAX_NOTICE:
        return False
    return not body or _NO_CONTENT in body or ("\n" not in body and bool(_NOTICE.search(body)))


def _without_json_wrapper(text: str) -> str:
    # Codex up to 0.5x stored {"output": ..., "metadata": {...}} as the result's text.
    if not text.startswith('{"output":'):
        return text
    try:
        value: Any = json.loads(text)
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


DEFAULT_STUB = "[File {path} - refer to latest read below]"
_STUB = re.compile(r"\[File .* - refer to latest read below\]", re.DOTALL)
# Placeholders of compactctl's stages and of known clients: nothing of the file is left in them.
_CLEARED = re.compile(
    r"\[(?:Old )?[Tt]ool result (?:content )?cleared\]|\[Tool result truncated\b[^\n]*\]"
    r"|\[Compacted history content evicted\b[^\n]*\]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """A tool result that shows a file.

    ``part_index`` is where the result stands, ``path`` the file relative to the working folder
    where it lies inside, ``requested_lines`` the requested lines (None: the whole file), ``body``
    the file's text.
    """

    part_index: PartIndex
    message: MessageId
    tool: str
    path: str
    requested_lines: LineRange | None
    body: str

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the file that were shown."""
        return tuple(self.body.split("\n"))

    @property
    def shows_content(self) -> bool:
        """Whether anything of the file was shown: an empty file or one's end shows nothing."""
        return not is_notice(self.body)


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A tool call that changes a file; ``part_index`` is where the call stands."""

    part_index: PartIndex
    path: str


def stub_for(path: str, notice: str = DEFAULT_STUB) -> str:
    """Return the text that points from an older read of a file to the newest one."""
    return notice.replace("{path}", path)


def is_stub(text: str, path: str | None = None) -> bool:
    """Whether a tool result's text is such a pointer.

    A read of ``path`` is one, too, when it shows a single line in brackets that names the file.
    """
    if _STUB.fullmatch(text) is not None:
        return True
    inside = path is not None and path in text and "\n" not in text
    return inside and text.startswith("[") and text.endswith("]")


def find_file_reads(
    messages: Sequence[Message], *, cwd: str | None = None, also: ExtraReadTools = NO_EXTRA_TOOLS
) -> tuple[FileRead, ...]:
    """Return the file reads in order; errors, cleared results, stubs and media are left out."""
    return tuple(
        FileRead(
            part_index=place,
            message=messages[place.message].id,
            tool=call.tool,
            path=request.path,
            requested_lines=request.lines,
            body=file_content(part.text, numbered=kind_of(call.tool) != "shell"),
        )
        for place, part, call, request in _requested(messages, cwd, also, _may_show_content)
        if not is_stub(part.text, request.path)
    )


def find_file_edits(messages: Sequence[Message], *, cwd: str | None = None) -> tuple[FileEdit, ...]:
    """Return the calls that write, edit or patch files, one per file, in order."""
    return tuple(
        FileEdit(place, path)
        for place, part in iter_parts(messages)
        if isinstance(part, ToolCallPart)
        for path in edited_paths(part, cwd=cwd)
    )


def covers(newer: FileRead, older: FileRead) -> bool:
    """Whether all that ``older`` shows stands in ``newer``, as one block of whole lines.

    What shows nothing of a file, such as that it was empty, stands in no other read.
    """
    if not older.shows_content:
        return False
    return older.body == newer.body or _as_whole_lines(older.body) in _as_whole_lines(newer.body)


def find_superseded(reads: Sequence[FileRead]) -> dict[PartIndex, FileRead]:
    """Map every read that a later read of its file covers to the newest one that does."""
    covered: dict[PartIndex, FileRead] = {}
    for reads_of_file in group_by_path(reads).values():
        for read, later in zip(reads_of_file, _possible_covers(reads_of_file), strict=True):
            newest = next((other for other in later if covers(other, read)), None)
            if newest is not None:
                covered[read.part_index] = newest
    return covered


def _possible_covers(reads_of_file: Sequence[FileRead]) -> Iterator[Iterator[FileRead]]:
    """Yield, for each read of a file, the later ones that show its rarest line, newest first.

    Only they can show all of it; to compare every read with every later one takes hours.
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
    """Group reads by file, in order."""
    grouped: dict[str, list[FileRead]] = {}
    for read in reads:
        grouped.setdefault(read.path, []).append(read)
    return grouped


def stub_targets(messages: Sequence[Message], *, cwd: str | None = None) -> frozenset[PartIndex]:
    """Return the reads that stubs point to: for each stub the newest read of what it showed.

    Where no later read asks for the stub's lines, the newest read of the file counts.
    """
    stubs = [
        (place, request)
        for place, part, _, request in _requested(messages, cwd, NO_EXTRA_TOOLS, _may_be_stub)
        if is_stub(part.text, request.path)
    ]
    shown = (
        (read for read in find_file_reads(messages, cwd=cwd) if read.shows_content) if stubs else ()
    )
    reads = group_by_path(tuple(shown))
    newest = {request: _newest(request, reads.get(request.path, ())) for _, request in stubs}
    later = ([at for at in newest[request] if at > place] for place, request in stubs)
    return frozenset(places[0] for places in later if places)


def _may_be_stub(part: ToolResultPart) -> bool:
    text = part.text
    return text.startswith("[") and text.endswith("]") and not _CLEARED.fullmatch(text)


def _newest(request: ReadRequest, reads_of_file: Sequence[FileRead]) -> list[PartIndex]:
    """Return the newest read of a file that asks for the lines, if any, and the newest of all."""
    fitting = (
        read
        for read in reversed(reads_of_file)
        if request_covers(read.requested_lines, request.lines)
    )
    return [read.part_index for read in (*islice(fitting, 1), *reads_of_file[-1:])]


def _requested(
    messages: Sequence[Message],
    cwd: str | None,
    also: ExtraReadTools,
    wanted: Callable[[ToolResultPart], bool],
) -> Iterator[tuple[PartIndex, ToolResultPart, ToolCallPart, ReadRequest]]:
    results = [
        (place, part)
        for place, part in iter_parts(messages)
        if isinstance(part, ToolResultPart) and wanted(part)
    ]
    pairs = tool_pairs(messages) if results else {}
    for place, part in results:
        at = pairs.get(place)
        call = messages[at.message].parts[at.part] if at else None
        if isinstance(call, ToolCallPart):
            request = read_request(call, cwd=cwd, extra_tools=also)
            if request is not None:
                yield place, part, call, request


def _may_show_content(part: ToolResultPart) -> bool:
    return not (part.is_error or part.media or is_cleared(part))


def is_cleared(part: ToolResultPart) -> bool:
    """Whether a placeholder of a stage or of a known client stands in place of a result."""
    return part.cleared or _CLEARED.fullmatch(part.text.strip()) is not None


def request_covers(newer: LineRange | None, older: LineRange | None) -> bool:
    """Whether a request for ``newer`` lines of a file asks for all of the ``older`` ones."""
    return newer is None if older is None else older.is_within(newer)


def _as_whole_lines(body: str) -> str:
    return f"\n{body}\n"


def newest_covering_reads(reads_of_file: Sequence[FileRead]) -> Mapping[LineRange | None, FileRead]:
    """Map the ranges of a file's reads to the newest read that asks for all of their lines.

    ``reads_of_file`` are the reads of one file, in order.
    """
    newest = {read.requested_lines: read for read in reads_of_file}
    found: dict[LineRange | None, FileRead] = {}
    # Of the ranges so far, which begin no later: those that no newer one includes, by their ends.
    # The further the end, the older is the read.
    ends: list[float] = []
    reads: list[FileRead] = []
    for lines in sorted(newest, key=_widest_first):
        read, end = newest[lines], _line_bounds(lines)[1]
        at = bisect_left(ends, end)
        if at < len(reads) and reads[at].part_index > read.part_index:
            found[lines] = reads[at]
            continue
        found[lines] = read
        stop = at + (at < len(ends) and ends[at] == end)
        while at and reads[at - 1].part_index < read.part_index:
            at -= 1
        ends[at:stop], reads[at:stop] = [end], [read]
    return found


def _widest_first(lines: LineRange | None) -> tuple[float, float]:
    first, last = _line_bounds(lines)
    return first, -last


def _line_bounds(lines: LineRange | None) -> tuple[float, float]:
    """Return the first and the last line; a request for the whole file includes every other."""
    if lines is None:
        return -inf, inf
    return lines.first, inf if lines.last is None else lines.last
