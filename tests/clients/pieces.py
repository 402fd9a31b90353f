"""A conversation in pieces: as a request holds it, and as ``view`` shows it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from clients.asking import compactctl
from clients.desk import Desk, bare, text_of
from clients.stub import Json

Piece = tuple[str, str, str]
"""Text, reasoning, call, result or picture; the id of its call; what it says."""

_TEXTS = frozenset({"text", "input_text", "output_text"})
_MEDIA = frozenset({"image", "document"})
# What Claude Code 2.1.331 says behind the result of a search for tools.
_LOADED = "Tool loaded."
# It stands for a tool that is searched for, which older versions leave out without a real provider.
_REFERENCE = '{"type":"tool_reference",'
_NO_REFERENCE = "[Tool references removed - tool search not enabled]"
# Claude Code 2.1.332 says of what a task in the background has told that it was not typed.
_NOTIFICATION = re.compile(
    r"<system-reminder>\n\[SYSTEM NOTIFICATION.*?(<task-notification>.*)</system-reminder>\s*",
    re.DOTALL,
)
# What Codex sends for a picture whose data is none, as in sessions that were published.
_UNREADABLE = "image content omitted because it could not be processed"
_CUT = re.compile("…\\d+ (?:chars|tokens) truncated…")
_SUMMARY = re.compile(
    r"^The (?:conversation history before|following is a summary of) .*?<summary>\s*"
    r"|\s*</summary>$",
    re.DOTALL,
)

_ATTACHED = re.compile(r"<file_content path=\"[^\"]*\">\n(.*)\n</file_content>", re.DOTALL)


def _blocks_of(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else [*(content or ())]


def _result(content: Any) -> str:
    return bare("\n".join(block["text"] for block in _blocks_of(content)))


def _codex_request(request: Json) -> Iterator[Piece]:
    for item in request["input"]:
        kind, call = item.get("type", "message"), str(item.get("call_id") or "")
        if kind == "message":
            # Its settings are told anew with every turn.
            if item["role"] not in ("developer", "system"):
                yield from _unless_settings(_content(_in_one(item["content"])))
        elif kind == "agent_message":
            yield from _content(item["content"])
        elif kind == "reasoning" or "compaction" in kind:
            # Its provider does not read it any more once its turn has ended.
            yield "reasoning", "", ""
        elif kind.endswith("_output"):
            blocks = _blocks_of(item.get("output"))
            texts = [
                block
                for block in blocks
                if block["type"] in _TEXTS and block["text"] != _UNREADABLE
            ]
            yield "result", call, _result(texts)
            yield from _content(block for block in blocks if block not in texts)
        elif kind.endswith("_call"):
            given = item.get("arguments", item.get("input", item.get("action")))
            yield "call", call, _canonical(given)
        else:
            yield kind, "", ""


def _codex_shown(messages: Iterable[Json], session: bytes) -> Iterator[Piece]:
    """Yield what ``view`` shows, all of an item's reasoning at once, without tools found."""
    for message in messages:
        if any(part["kind"] == "reasoning" for part in message["parts"]):
            yield "reasoning", "", ""
        unlike = ("reasoning", "tool_definition")
        parts = [part for part in message["parts"] if part["kind"] not in unlike]
        yield from _unless_settings(in_order([{**message, "parts": parts}], session))


def _in_one(content: list[Json]) -> list[Json]:
    """Return the content of a prompt in one block if Codex has cut it in three."""
    texts = [block.get("text", "") for block in content]
    is_cut = len(texts) == 3 and _CUT.fullmatch(texts[1])
    return [{**content[0], "text": "".join(texts)}] if is_cut else content


def _content(content: Any) -> Iterator[Piece]:
    for block in _blocks_of(content):
        if block.get("text") == _UNREADABLE:
            yield "image", "", ""
        elif block["type"] in _TEXTS:
            yield from (("text", "", text) for text in [bare(block["text"])] if text)
        else:
            yield block["type"].removeprefix("input_"), "", ""


def _unless_settings(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces without what Codex says of its settings."""
    beginnings = ("<", "# AGENTS.md instructions")
    return (piece for piece in pieces if piece[0] != "text" or not piece[2].startswith(beginnings))


def _canonical(arguments: object) -> str:
    """Return arguments as JSON with sorted keys, or the text that they are."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return str(arguments)
    return json.dumps(value, sort_keys=True)


def _pi_request(request: Json) -> Iterator[Piece]:
    for kind, call, text in request_pieces(request):
        yield kind, call, _SUMMARY.sub("", text) if kind == "text" else text


def _pi_shown(messages: Iterable[Json], session: bytes) -> Iterator[Piece]:
    """Yield what is sent to a model of Anthropic, which gets the reasoning of no other."""
    records = session.split(b"\n")
    for message in messages:
        said = json.loads(records[message["line"] - 1]).get("message", {})
        if said.get("role") == "bashExecution":
            output = said["output"]
            shown = f"```\n{output}\n```" if output else "(no output)"
            if said.get("truncated"):
                shown += f"\n\n[Output truncated. Full output: {said['fullOutputPath']}]"
            yield "text", "", bare(f"Ran `{said['command']}`\n{shown}")
            continue
        is_own = said.get("provider") == "anthropic"
        pieces = in_order([message], session)
        yield from (piece for piece in pieces if is_own or piece[0] != "reasoning")


def _qwen_request(request: Json) -> Iterator[Piece]:
    for message in request["messages"]:
        content = message.get("content")
        if message["role"] == "tool":
            yield "result", message["tool_call_id"], _result(content)
        elif message["role"] != "system":
            if said := message.get("reasoning_content"):
                yield "reasoning", "", said
            yield from _content(content)
            for call in message.get("tool_calls") or ():
                yield "call", call["id"], _canonical(call["function"]["arguments"])


def _qwen_shown(messages: Iterable[Json], session: bytes) -> Iterator[Piece]:  # noqa: ARG001
    """Yield what ``view`` shows; answers in a row are sent as one, results before what was said."""
    sent = (message for message in messages if any(map(_shown_at_all, message["parts"])))
    asked: list[list[Piece]] = []
    said: list[Piece] = []
    for message in sent:
        parts = [[*_shown(part)] for part in message["parts"]]
        if message["role"] == "assistant":
            yield from _results_first(filter(None, asked))
            asked = []
            said += chain.from_iterable(parts)
        else:
            yield from _joined(said)
            said = []
            asked += parts
        # Behind calls their results are sent, also those that are made up.
        if any(kind == "call" for kind, _, _ in said):
            yield from _joined(said)
            said = []
    yield from chain(_results_first(filter(None, asked)), _joined(said))


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield what answers in a row say as one: reasoning, text, and calls."""
    for kind in ("reasoning", "text"):
        if text := "".join(said for shown, _, said in pieces if shown == kind):
            yield kind, "", text
    yield from (piece for piece in pieces if piece[0] not in ("reasoning", "text"))


def _shown_at_all(part: Json) -> bool:
    return bool(part["kind"] != "omitted")


def _cline_request(request: Json) -> Iterator[Piece]:
    for message in request["messages"]:
        if message["role"] == "tool":
            yield "result", message["tool_call_id"], bare(_cline_result(message["content"]))
            continue
        said = message.get("content") if message["role"] != "system" else None
        for kind, call, text in _content(said):
            attached = _ATTACHED.fullmatch(text)
            yield kind.removesuffix("_url"), call, bare(attached[1]) if attached else text
        for call in message.get("tool_calls") or ():
            yield "call", call["id"], _canonical(call["function"]["arguments"])


# What Cline says where the pictures of a result follow it.
_PICTURE_FOLLOWS = "(see following user message for image)"


def _cline_result(content: str) -> str:
    """Return a result: a text, or the JSON of what a tool returned of each thing."""
    try:
        entries = json.loads(content)
    except ValueError:
        return content
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return content
    lines = (
        _cline_result(entry["text"])
        if entry.get("type") == "text"
        else json.dumps(entry, separators=(",", ":"), ensure_ascii=False)
        for entry in entries
        if entry.get("text") != _PICTURE_FOLLOWS
    )
    return "\n".join(lines)


def _cline_shown(messages: Iterable[Json], session: bytes) -> Iterator[Piece]:
    """Yield what ``view`` shows; of a result with pictures, its texts alone are in its entries."""
    for kind, call, said in in_order(messages, session):
        yield kind, call, _without_pictures(said) if kind == "result" else said


def _without_pictures(said: str) -> str:
    try:
        entry = json.loads(said)
    except ValueError:
        return said
    blocks = entry.get("result") if isinstance(entry, dict) else None
    if not isinstance(blocks, list) or all(block.get("type") == "text" for block in blocks):
        return said
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    return json.dumps({**entry, "result": texts}, separators=(",", ":"), ensure_ascii=False)


def request_pieces(request: Json) -> Iterator[Piece]:
    """Yield what a request of Claude Code holds, in words: inputs and thinking as they stand.

    The pictures of a result follow it.
    """
    for message in request["messages"]:
        # Among the messages the client puts reminders for the model, as those of a system.
        for block in _blocks_of(message["content"] if message["role"] != "system" else ()):
            match block["type"]:
                case "tool_use" | "server_tool_use":
                    yield "call", block["id"], json.dumps(block["input"], sort_keys=True)
                case "tool_result" | "web_search_tool_result":
                    blocks = _blocks_of(block.get("content"))
                    texts = [_text_of(part) for part in blocks if part["type"] not in _MEDIA]
                    yield "result", block["tool_use_id"], bare("\n".join(filter(None, texts)))
                    yield from ((part["type"], "", "") for part in blocks if part["type"] in _MEDIA)
                case "thinking" | "redacted_thinking":
                    yield "reasoning", "", block.get("thinking", "")
                case "document" if block["source"]["type"] == "text":
                    yield "text", "", block["source"]["data"]
                case "text" if notification := _NOTIFICATION.fullmatch(block["text"]):
                    yield "text", "", notification[1].strip()
                case _:
                    yield from _content([block])


def _text_of(block: Json) -> str:
    is_text = block["type"] == "text"
    return bare(block["text"]) if is_text else json.dumps(block, separators=(",", ":"))


def shown_pieces(messages: Iterable[Json], session: bytes) -> Iterator[Piece]:
    """Yield what ``view`` shows of a session of Claude Code, as the document of its messages.

    All of a response comes at once, its calls last, and results first in what follows: so they are
    sent. What stands in attachments is reminders, and not a part of the conversation.
    """
    records = session.split(b"\n")
    groups: list[list[Json]] = []
    answers: dict[str, list[Json]] = {}
    for message in messages:
        record = json.loads(records[message["line"] - 1].decode("utf-8-sig", "replace"))
        answer = record.get("message", {}).get("id") if record["type"] == "assistant" else None
        if answer in answers:
            answers[answer].append(message)
        elif record["type"] != "attachment":
            groups.append([message])
            answers = {**answers, answer: groups[-1]} if answer else answers
        if not answer and any(part["kind"] != "tool_result" for part in message["parts"]):
            # What is said ends a response; other responses and results may stand within it.
            answers = {}
    asked: list[list[Piece]] = []
    for group in groups:
        shown = ([*_shown(part)] for message in group for part in message["parts"])
        parts = [pieces for pieces in shown if pieces]
        if group[0]["role"] == "assistant":
            yield from _results_first(asked)
            yield from _calls_last(parts)
            asked = []
        else:
            asked += parts
    yield from _results_first(asked)


def _calls_last(parts: Sequence[list[Piece]]) -> Iterator[Piece]:
    # What a provider ran itself stays with its result.
    results = {pieces[0][1] for pieces in parts if pieces[0][0] == "result"}
    ordered = sorted(
        parts, key=lambda pieces: pieces[0][0] == "call" and pieces[0][1] not in results
    )
    return chain.from_iterable(ordered)


def _results_first(parts: Iterable[list[Piece]]) -> Iterator[Piece]:
    ordered = sorted(parts, key=lambda pieces: pieces[0][0] != "result")
    return chain.from_iterable(ordered)


def _shown(part: Json) -> Iterator[Piece]:
    match part["kind"]:
        case "tool_call":
            yield "call", part["callId"], _canonical(part["arguments"])
        case "tool_result":
            yield "result", part["callId"], bare(part["text"])
            yield from ((_kind_of(media), "", "") for media in part["media"])
        case "reasoning":
            yield "reasoning", "", part["text"]
        case "media":
            yield _kind_of(part), "", ""
        case "omitted":
            pass
        case _:
            yield from (("text", "", text) for text in [bare(part["text"])] if text)


def _kind_of(media: Json) -> str:
    return "image" if media["mediaType"].startswith("image/") else "document"


def in_order(messages: Iterable[Json], session: bytes) -> Iterator[Piece]:  # noqa: ARG001
    """Yield what ``view`` shows of a session, as the document of its messages."""
    said = (message for message in messages if message["role"] != "system")
    return (piece for message in said for part in message["parts"] for piece in _shown(part))


COPILOT_RESUMED = "Tool execution was interrupted before a result was recorded."
"""How that begins which Copilot CLI says of a call whose result is missing at the end."""
_COPILOT_SUMMARY = "Some of the conversation history has been summarized to free up context."
_COPILOT_PROMPTS = re.compile(r"<(user_message|summary)>\n(.*?)\n</\1>", re.DOTALL)
_COPILOT_TIME = re.compile(r"<current_datetime>.*?</current_datetime>")
_COPILOT_COMMAND = re.compile(
    r"<user_shell_command_output>\n.*?\n\nCommand:(?:\n| <unknown>)(.*?)\n\nOutput:\n(.*)"
    r"\n</user_shell_command_output>",
    re.DOTALL,
)


def _copilot_request(request: Json) -> Iterator[Piece]:
    for message in request["messages"]:
        if message["role"] == "tool":
            text = bare(text_of(message["content"]))
            is_resumed = text.startswith(COPILOT_RESUMED)
            yield "result", message["tool_call_id"], COPILOT_RESUMED if is_resumed else text
        elif message["role"] != "system":
            blocks = _blocks_of(message["content"])
            for number, block in enumerate(blocks):
                if block["type"] != "text":
                    yield "image", "", ""
                # Before a picture it says its name.
                elif all(block["type"] == "text" for block in blocks[number + 1 : number + 2]):
                    yield from (("text", "", text) for text in _copilot_texts(block["text"]))
        for call in message.get("tool_calls") or ():
            yield "call", call["id"], _canonical(call["function"]["arguments"])


def _copilot_texts(text: str) -> Iterator[str]:
    """Yield the texts of which Copilot CLI makes one."""
    if text.startswith(_COPILOT_SUMMARY):
        texts = [match[2] for match in _COPILOT_PROMPTS.finditer(text)]
        texts.append(text.rpartition("</summary>")[2])
    elif command := _COPILOT_COMMAND.fullmatch(text):
        texts = [command[2], command[1]]
    else:
        said, _, files = text.partition("<tagged_files>")
        texts = [*_COPILOT_TIME.split(said), files.removesuffix("</tagged_files>")]
    yield from filter(None, map(bare, texts))


def _copilot_shown(messages: Iterable[Json], session: bytes) -> Iterator[Piece]:  # noqa: ARG001
    """Yield what ``view`` shows of a session, results right behind the answer with their calls."""
    said = [message for message in messages if message["role"] != "system"]
    results: dict[str, list[Piece]] = {}
    for part in (part for message in said for part in message["parts"]):
        if part["kind"] == "tool_result":
            results.setdefault(part["callId"], []).extend(_shown(part))
    for message in said:
        for part in message["parts"]:
            if part["kind"] != "tool_result":
                yield from _shown(part)
            if part["kind"] == "text" and part.get("added"):
                yield "text", "", part["added"]
        calls = [part["callId"] for part in message["parts"] if part["kind"] == "tool_call"]
        yield from (piece for call in calls for piece in results.pop(call, ()))


def _gemini_request(request: Json) -> Iterator[Piece]:
    for part in (part for content in request["contents"] for part in content["parts"]):
        if "functionCall" in part:
            called = part["functionCall"]
            yield "call", called.get("id", ""), _canonical(called["args"])
        elif "functionResponse" in part:
            returned = part["functionResponse"]
            yield "result", returned.get("id", ""), bare(returned["response"].get("output", ""))
        elif "inlineData" in part:
            yield "image", "", ""
        # Its description of the session is made anew.
        elif (text := bare(part.get("text", ""))) and not text.startswith("<session_context>"):
            yield "text", "", text


def _opencode_request(request: Json) -> Iterator[Piece]:
    """Yield what a request of OpenCode or Kilo holds: what was typed is put in quotation marks."""
    for message in request["messages"]:
        if message["role"] == "system":
            continue
        if message["role"] == "tool":
            yield "result", message["tool_call_id"], _result(message["content"])
            continue
        if reasoning := message.get("reasoning_content"):
            yield "reasoning", "", reasoning
        for kind, call, text in _content(message.get("content")):
            if text != _MEDIA_OF_RESULT:
                yield kind.removesuffix("_url"), call, text.strip('"')
        for call in message.get("tool_calls") or ():
            yield "call", call["id"], _canonical(call["function"]["arguments"])


# What OpenCode says before the pictures of a result.
_MEDIA_OF_RESULT = "Attached media from tool result:"


def _opencode_shown(messages: Iterable[Json], session: bytes) -> Iterator[Piece]:
    """Yield what ``view`` shows; an answer has its text before its calls, and these before results.

    The pictures of a result follow it in a message of their own. Quotation marks around a text are
    left out.
    """
    order = {"reasoning": 0, "text": 1, "call": 2, "result": 3}
    for message in messages:
        pieces = [
            (kind, call, text.strip('"') if kind == "text" else text)
            for kind, call, text in in_order([message], session)
        ]
        is_answer = message["role"] == "assistant"
        yield from sorted(pieces, key=lambda piece: order.get(piece[0], 4)) if is_answer else pieces


@dataclass(frozen=True, kw_only=True)
class Wire:
    """How pieces are taken from a client's request, and from what ``view`` shows of a session.

    ``missing`` is what it sends for a call without a result, "" where some versions leave the call
    out.
    """

    request: Callable[[Json], Iterator[Piece]]
    shown: Callable[[Iterable[Json], bytes], Iterator[Piece]]
    missing: str

    def view(self, desk: Desk, session: str) -> Iterator[Piece]:
        """Yield what ``view`` shows of a session, a file or one that a client lists."""
        messages = compactctl(desk, "view", "--full", session)["messages"]
        assert isinstance(messages, list)
        path = Path(session)
        return self.shown(messages, path.read_bytes() if path.is_file() else b"")


_OPENCODE = Wire(
    request=_opencode_request, shown=_opencode_shown, missing="[Tool execution was interrupted]"
)
WIRES: Mapping[str, Wire] = {
    "claude-code": Wire(request=request_pieces, shown=shown_pieces, missing=""),
    "codex": Wire(request=_codex_request, shown=_codex_shown, missing="aborted"),
    "copilot-cli": Wire(
        request=_copilot_request,
        shown=_copilot_shown,
        missing="The execution of this tool, or a previous tool was interrupted.",
    ),
    "qwen-code": Wire(
        request=_qwen_request,
        shown=_qwen_shown,
        missing=(
            "Tool execution result was not recorded — likely interrupted by network failure, abort,"
            " or process exit. Treat as failure and retry if needed."
        ),
    ),
    "gemini-cli": Wire(
        request=_gemini_request,
        # It stores the name of the tool before the id of a call.
        shown=lambda messages, session: (
            (kind, call.rpartition("__")[2], text)
            for kind, call, text in in_order(messages, session)
            if not text.startswith("<session_context>")
        ),
        missing="",
    ),
    "pi": Wire(request=_pi_request, shown=_pi_shown, missing="No result provided"),
    "cline": Wire(request=_cline_request, shown=_cline_shown, missing=""),
    "opencode": _OPENCODE,
    "kilo": _OPENCODE,
}


def pieces_expected(wire: Wire, desk: Desk, session: str) -> list[Piece]:
    """Return what is to be sent of a session, as ``view`` shows it."""
    pieces = [*wire.view(desk, session)]
    results = {call for kind, call, _ in pieces if kind == "result"}
    if not wire.missing:
        return [piece for piece in pieces if piece[0] != "call" or piece[1] in results]
    return pieces


def pieces_sent(wire: Wire, request: Json, expected: list[Piece], prompt: str) -> list[Piece]:
    """Return what was sent before ``prompt``, without what the client makes up itself."""
    pieces = [*wire.request(request)]
    last = max(at for at, piece in enumerate(pieces) if piece == ("text", "", prompt))
    assert {kind for kind, _, _ in pieces[last + 1 :]} <= {"text"}, pieces[last + 1 :]
    sent = pieces[:last]
    while sent and sent[-1] not in expected[-1:] and _is_made_up(sent[-1]):
        sent.pop()
    known = {call: text for kind, call, text in expected if kind == "result"}
    return [
        (kind, call, _whole(text, known[call]) if kind == "result" and call in known else text)
        for kind, call, text in sent
        if not _is_filled_in(wire, (kind, call, text), known) and text != _LOADED
    ]


def in_any_order(pieces: Iterable[Piece]) -> list[Piece]:
    """Return pieces with calls that follow one another in order of their ids, and so results.

    Of the calls of one answer 2.1.197 of Claude Code sends those beside the path last, 2.1.332 as
    they stand in the file, and the results of those beside the path last.
    """
    return [
        piece
        for kind, run in groupby(pieces, key=lambda piece: piece[0])
        for piece in (sorted(run) if kind in ("call", "result") else run)
    ]


def _is_filled_in(wire: Wire, piece: Piece, known: Mapping[str, str]) -> bool:
    """Tell whether a piece of a request is there for a call that has no result."""
    kind, call, text = piece
    if wire.missing:
        return kind == "result" and call not in known and text == wire.missing
    return kind in ("call", "result") and call not in known


def _is_made_up(piece: Piece) -> bool:
    """Tell whether Claude Code says this when it goes on with a turn that was not finished."""
    said = ("Continue from where you left off.", "No response requested.")
    return piece[2] in said or piece[2].startswith("<task-notification>")


def _whole(sent: str, known: str) -> str:
    """Return the result that was sent, or the known one where a client sends a stand-in for it."""
    if known.startswith(_REFERENCE) and (sent == _NO_REFERENCE or sent.startswith(_REFERENCE)):
        return known
    return sent
