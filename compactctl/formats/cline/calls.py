"""Tool calls of Cline and Roo Code: those written as XML in a text, and which are unanswered."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from compactctl.formats.records.json_text import json_text
from compactctl.model.message import CallId, JsonPath, Part, TextPart, ToolCallPart

# With these the model speaks to the person: what comes back is not a result but the next request.
SPEAKING = frozenset({"attempt_completion", "plan_mode_respond"})

_OPENING = re.compile(r"<(\w+)>")
# Their values are files and patches, which may hold any tag; the last closing one counts.
_RAW = frozenset({"content", "diff"})
# Longer digits are not line numbers, and Python refuses to read very long ones.
_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")
_LINE_RANGE = re.compile(r"\s*([0-9]{1,9})-([0-9]{1,9})\s*")
_NUMBERS = ("start_line", "end_line")


class _Element(NamedTuple):
    """A tag's place in a text and what stands inside."""

    start: int
    end: int
    inner: str


class OpenCalls:
    """The calls of the newest response, handed out to the answers that follow it."""

    def __init__(self, calls: Iterable[ToolCallPart] = ()) -> None:
        self._open = list(calls)
        self._answered: dict[str, ToolCallPart] = {}

    def answered(self, tool: str) -> ToolCallPart | None:
        """Return the first open call of a tool, else the call of it that was answered last."""
        for index, call in enumerate(self._open):
            if call.tool == tool:
                self._answered[tool] = self._open.pop(index)
                break
        return self._answered.get(tool)

    def next(self) -> ToolCallPart | None:
        """Return the first open call of any tool."""
        return self._open.pop(0) if self._open else None


def written_calls(text: str, path: JsonPath, tools: Sequence[str], prefix: str) -> Iterator[Part]:
    """Yield a text and the calls in it, one for each of ``tools`` that is found, in that order.

    Only calls that are known to be answered are wanted: a text may also quote one.
    """
    at = 0
    for number, tool in enumerate(tools):
        found = None if tool in SPEAKING else _call(text, tool, at)
        if found is None:
            continue
        if found.start > at:
            yield TextPart(text=text[at : found.start], embedded=True, path=path)
        yield ToolCallPart(
            call_id=CallId(f"{prefix}-{number}"),
            tool=tool,
            arguments=json_text(_arguments(found.inner)),
            embedded=True,
            path=path,
        )
        at = found.end
    if at < len(text) or at == 0:
        yield TextPart(text=text[at:], embedded=at > 0, path=path)


def _call(text: str, tool: str, at: int) -> _Element | None:
    """Return the next call of a tool; prose may name the tag before it is used."""
    end = text.find(f"</{tool}>", at)
    start = text.rfind(f"<{tool}>", at, end) if end >= 0 else -1
    return None if start < 0 else _enclosed(text, tool, start)


def _enclosed(text: str, name: str, start: int) -> _Element | None:
    closing, inner = f"</{name}>", start + len(name) + 2
    end = (text.rfind if name in _RAW else text.find)(closing, inner)
    return None if end < 0 else _Element(start, end + len(closing), text[inner:end])


def _arguments(body: str) -> Mapping[str, Any]:
    """Return a call's parameters as tools take them; a read of one file names it at the top."""
    found: dict[str, Any] = dict(_children(body))
    files = found.get("args")
    if not isinstance(files, str):
        return _numbered(found)
    named = [_file(inner) for tag, inner in _children(files) if tag == "file"]
    if len(named) == 1 and "line_range" not in named[0]:
        return named[0]
    return {"files": named} if named else found


def _file(body: str) -> dict[str, Any]:
    """Return one file of a read; several ranges of it stay a list."""
    found: dict[str, Any] = dict(_children(body))
    ranges = [inner for tag, inner in _children(body) if tag == "line_range"]
    match = _LINE_RANGE.fullmatch(ranges[0]) if len(ranges) == 1 else None
    if match is not None:
        del found["line_range"]
        return {**found, "start_line": int(match[1]), "end_line": int(match[2])}
    return {**found, "line_range": ranges} if ranges else found


def _numbered(found: dict[str, Any]) -> dict[str, Any]:
    numbers = {
        name: int(found[name]) for name in _NUMBERS if _NUMBER.fullmatch(found.get(name, ""))
    }
    return found | numbers


def _children(body: str) -> Iterator[tuple[str, str]]:
    at = 0
    while match := _OPENING.search(body, at):
        found = _enclosed(body, match[1], match.start())
        if found is None:
            return
        yield match[1], found.inner.removeprefix("\n").removesuffix("\n")
        at = found.end
