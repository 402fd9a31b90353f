"""How each client writes down a call and its result, with the fields that it has for the end."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from formats.agent_code import sessions as agent_code
from formats.cline import tasks as cline
from formats.codex import rollouts as codex
from formats.copilot_cli import sessions as copilot
from formats.gemini_cli import talks as gemini
from formats.opencode import sessions as opencode
from formats.qwen_code import sessions as qwen
from formats.vscode_chat import chats as vscode
from voices.apis import (
    AnthropicTalk,
    BedrockTalk,
    ClaudeRequest,
    ContentsTalk,
    NeuroLinkTalk,
    OpenAITalk,
    OpenCodeRequests,
    UITalk,
)
from voices.editors import ClineTalk, RooTalk, VsCodeTalk
from voices.place import Record, Talk
from voices.terminals import (
    AgentCodeTalk,
    ClaudeTalk,
    CodexItems,
    CodexTalk,
    CopilotTalk,
    GeminiTalk,
    MiniSweTalk,
    OpenCodeTalk,
    PiTalk,
    QwenTalk,
    ResponsesTalk,
)
from voices.wordings import text

from compactctl.clients.registry import ALL_FORMATS

FILE, COMMAND, URL = "src/quay.py", "make tides", "https://harbour.example/tides"
PATCH = f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-tide = 3\n+tide = 4\n*** End Patch"


@dataclass(frozen=True)
class Call:
    """A call of a tool by its name."""

    tool: str
    arguments: Record


Write = Callable[[Any, Call, str | None, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Client:
    """How a client names what it does, and writes it: without a text there is no result.

    A client that ``states_success`` has a field for that in the records of all its calls.
    """

    talk: type[Talk]
    write: Write
    calls: Mapping[str, Call]
    states_success: bool = False


def _claude(talk: ClaudeTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = talk.call(call.tool, call.arguments)
    if said is None:
        return
    flag = {"is_error": fields["is_error"]} if "is_error" in fields else {}
    block = {"type": "tool_result", "tool_use_id": name, "content": said, **flag}
    talk.user([block], **{key: value for key, value in fields.items() if key != "is_error"})


def _codex(talk: CodexTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = f"call_{talk.number()}"
    is_patch = call.tool == "apply_patch"
    kind = "custom_tool_call" if is_patch else "function_call"
    given = {"input": PATCH} if is_patch else {"arguments": json.dumps(call.arguments)}
    talk.records.append(codex.item(kind, name=call.tool, call_id=name, **given))
    if said is not None:
        talk.records.append(codex.item(f"{kind}_output", call_id=name, output=said))
    talk.records.extend(fields.get("after", ()))


def _copilot(talk: CopilotTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = f"call_{talk.number()}"
    request = {"toolCallId": name, "name": call.tool, "arguments": call.arguments}
    talk.records.append(copilot.event("assistant.message", content="", toolRequests=[request]))
    if said is None:
        talk.records.append(copilot.event("abort", reason="user_initiated"))
    elif "error_code" in fields:
        error = {"message": said, "code": fields["error_code"]}
        talk.records.append(copilot.answered(name, success=False, result=None, error=error))
    else:
        talk.records.append(copilot.answered(name, said))


def _gemini(talk: GeminiTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = f"{call.tool}_{talk.number()}"
    status = fields.get("status", "success")
    key = "output" if status == "success" else "error"
    response = {**fields.get("partial", {}), key: said}
    result = () if said is None else (gemini.answered(name, call.tool, **response),)
    tool = gemini.tool(name, call.tool, call.arguments, *result) | {"status": status}
    talk.records.append(gemini.gemini(f"g{name}", "", tool))


def _qwen(talk: QwenTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = f"call_{talk.number()}"
    status = fields.get("status", "success")
    talk.model(qwen.called(name, call.tool, **call.arguments))
    if said is not None:
        answer = qwen.answered(
            name, call.tool, **{"output" if status == "success" else "error": said}
        )
        talk.user(answer, toolCallResult={"status": status})


def _opencode(talk: OpenCodeTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    n = talk.number()
    key = "error" if fields.get("status") == "error" else "output"
    state = {**fields} if said is None else {key: said, **fields}
    part = opencode.tool(f"call_{n}", call.tool, call.arguments, **state)
    talk.records.append(opencode.assistant(opencode.message_id(n), part))


def _pi(talk: PiTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = f"call_{talk.number()}"
    block = {"type": "toolCall", "id": name, "name": call.tool, "arguments": call.arguments}
    talk.message("assistant", [block], stopReason="toolUse")
    if said is not None:
        own = {"toolCallId": name, "toolName": call.tool, "isError": False, **fields}
        talk.message("toolResult", [text(said)], **own)


def _agent_code(
    talk: AgentCodeTalk, call: Call, said: str | None, fields: Mapping[str, Any]
) -> None:
    name = talk.name()
    use = agent_code.use(name, call.tool, **call.arguments)
    talk.messages.append(agent_code.said(talk.name(), use))
    if said is not None:
        talk.user(agent_code.result(name, said, **fields), is_meta=True)


def _cline(talk: ClineTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    talk.call(call.tool, call.arguments)
    if said is not None:
        subject = next(iter(call.arguments.values()))
        talk.user(f"[{call.tool} for '{subject}'] Result:", said)
    for words in fields.get("after", ()):
        talk.user(words)


def _native(talk: ClineTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = f"toolu_{talk.number()}"
    talk.records.append(cline.assistant(cline.call(call.tool, name, **call.arguments)))
    if said is not None:
        talk.user(cline.result(name, said, **fields))
    for words in fields.get("after", ()):
        talk.user(words)


def _vscode(talk: VsCodeTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:  # noqa: ARG001 - what is sent has none
    n = talk.number()
    found = talk.records[-1]["result"]["metadata"]
    called = vscode.call(f"c{n}", call.tool, json.dumps(call.arguments))
    found["toolCallRounds"].append(vscode.rounded(f"r{n}", "", called))
    if said is not None:
        found["toolCallResults"][f"c{n}"] = vscode.result(said)


def _mini_swe(talk: MiniSweTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    command = call.arguments["command"]
    words = f"I do the next step.\n\n```mswea_bash_command\n{command}\n```"
    talk.records.append({"role": "assistant", "content": words})
    if said is not None:
        talk.records.append({"role": "user", "content": said, **fields})


def _neurolink(
    talk: NeuroLinkTalk, call: Call, said: str | None, fields: Mapping[str, Any]
) -> None:
    talk.message("tool_call", "", tool=call.tool, args=call.arguments)
    if said is not None:
        outcome = {"success": True, "result": "a copy that is not sent", **fields}
        talk.message("tool_result", said, tool=call.tool, result=outcome)


def _openai(talk: OpenAITalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = f"call_{talk.number()}"
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    called = {"id": name, "type": "function", "function": function}
    talk.message("assistant", None, tool_calls=[called])
    if said is not None:
        talk.message("tool", said, tool_call_id=name, **fields)


def _responses(
    talk: ResponsesTalk, call: Call, said: str | None, fields: Mapping[str, Any]
) -> None:
    name = f"call_{talk.number()}"
    talk.records.append(codex.call(name, json.dumps(call.arguments), call.tool))
    if said is not None:
        output = {"call_id": name, "output": said, "status": "completed"}
        talk.records.append(codex.item("function_call_output", **{**output, **fields}))


def _anthropic(
    talk: AnthropicTalk, call: Call, said: str | None, fields: Mapping[str, Any]
) -> None:
    name = talk.call(call.tool, call.arguments)
    if said is not None:
        talk.user({"type": "tool_result", "tool_use_id": name, "content": said, **fields})


def _bedrock(talk: BedrockTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    name = talk.call(call.tool, call.arguments)
    if said is not None:
        talk.user({"toolResult": {"toolUseId": name, "content": [{"text": said}], **fields}})


def _contents(talk: ContentsTalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    talk.call(call.tool, call.arguments)
    if said is not None:
        response = {fields.get("key", "output"): said}
        talk.user({"functionResponse": {"name": call.tool, "response": response}})


def _ui(talk: UITalk, call: Call, said: str | None, fields: Mapping[str, Any]) -> None:
    called = {"type": f"tool-{call.tool}", "toolCallId": f"c{talk.number()}"}
    state = fields.get("state", "input-available" if said is None else "output-available")
    ended: Mapping[str, Record] = {
        "input-available": {},
        "output-available": {"output": said},
        "output-error": {"errorText": said},
        "output-denied": {"approval": {"id": "q", "approved": False, "reason": said}},
    }
    whole = {**called, "input": call.arguments, "state": state, **ended[state]}
    talk.message("assistant", {"type": "step-start"}, whole)


def _calls(names: str, path: str = "path") -> Mapping[str, Call]:
    """Return calls of the tools that edit, write, run a command, read a file and fetch a page."""
    edit, write, run, read, fetch = names.split()
    return {
        "edit": Call(edit, {path: FILE, "old_string": "tide = 3", "new_string": "tide = 4"}),
        "write": Call(write, {path: FILE, "content": "tide = 4\n"}),
        "run": Call(run, {"command": COMMAND}),
        "read": Call(read, {path: FILE}),
        "fetch": Call(fetch, {"url": URL}),
    }


def _claude_request(
    talk: AnthropicTalk, call: Call, said: str | None, fields: Mapping[str, Any]
) -> None:
    _anthropic(talk, call, said, {key: fields[key] for key in fields if key == "is_error"})


def _opencode_request(
    talk: OpenAITalk,
    call: Call,
    said: str | None,
    fields: Mapping[str, Any],  # noqa: ARG001 - what is sent has none
) -> None:
    _openai(talk, call, said, {})


_CLINE = _calls("replace_in_file write_to_file execute_command read_file web_fetch")
_ROO = {**_CLINE, "edit": Call("apply_diff", {"path": FILE, "diff": "tide = 4"})}
_CLAUDE = _calls("Edit Write Bash Read WebFetch", "file_path")
_CODEX = {
    **_CLINE,
    "edit": Call("apply_patch", {"input": PATCH}),
    "run": Call("exec_command", {"cmd": COMMAND}),
}
_OPENCODE = _calls("edit write bash read webfetch", "filePath")
_API = _calls("edit_file write_file bash read_file fetch_page")
CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(ClaudeTalk, _claude, _CLAUDE, states_success=True),
    "codex": Client(CodexTalk, _codex, _CODEX),
    "codex items": Client(CodexItems, _codex, _CODEX),
    "copilot-cli": Client(
        CopilotTalk, _copilot, _calls("edit create bash view web_fetch"), states_success=True
    ),
    "gemini-cli": Client(
        GeminiTalk,
        _gemini,
        _calls("replace write_file run_shell_command read_file web_fetch", "file_path"),
        states_success=True,
    ),
    "qwen-code": Client(
        QwenTalk,
        _qwen,
        _calls("edit write_file run_shell_command read_file web_fetch", "file_path"),
        states_success=True,
    ),
    "opencode": Client(OpenCodeTalk, _opencode, _OPENCODE, states_success=True),
    "cline": Client(ClineTalk, _cline, _CLINE),
    "cline SDK": Client(
        ClineTalk, _native, {**_CLINE, "run": Call("run_commands", {"commands": [COMMAND]})}
    ),
    "roo": Client(RooTalk, _native, _ROO),
    "roo XML": Client(RooTalk, _cline, _ROO),
    "pi": Client(PiTalk, _pi, _calls("edit write bash read fetch"), states_success=True),
    "agent-code": Client(
        AgentCodeTalk,
        _agent_code,
        _calls("FileEdit FileWrite Bash FileRead WebFetch", "file_path"),
        states_success=True,
    ),
    "vscode-copilot-chat": Client(
        VsCodeTalk,
        _vscode,
        _calls(
            "replace_string_in_file create_file run_in_terminal read_file fetch_webpage", "filePath"
        ),
    ),
    "mini-swe-agent": Client(
        MiniSweTalk,
        _mini_swe,
        {
            "run": Call("bash", {"command": COMMAND}),
            "read": Call("bash", {"command": f"cat {FILE}"}),
            "fetch": Call("bash", {"command": f"curl -s {URL}"}),
        },
    ),
    "neurolink": Client(
        NeuroLinkTalk,
        _neurolink,
        _calls("editFile writeFile bash readFile fetchPage"),
        states_success=True,
    ),
    "openai-chat": Client(OpenAITalk, _openai, _API),
    "openai-chat of OpenCode": Client(OpenCodeRequests, _opencode_request, _OPENCODE),
    "openai-responses": Client(ResponsesTalk, _responses, _API),
    "anthropic-messages": Client(AnthropicTalk, _anthropic, _API),
    "anthropic-messages of Claude Code": Client(ClaudeRequest, _claude_request, _CLAUDE),
    "gemini-api": Client(ContentsTalk, _contents, _API),
    "bedrock-converse": Client(BedrockTalk, _bedrock, _API),
    "ai-sdk": Client(UITalk, _ui, _API),
}

UNTRIED = {known.name for known in ALL_FORMATS} - {name.partition(" ")[0] for name in CLIENTS}
