"""Writes a plan down as chat messages of OpenAI, Anthropic and NeuroLink, in every container."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from properties.plans import Plan, Step
from properties.spelling import Record, last_torn, spelled

Write = Callable[[Step, str], Iterator[Record]]
_CALLS = {"call": 1, "parallel": 3, "edit": 1, "late result": 1, "lost call": 1}
_SAID = {"say", "think", "client error"}
_NOISE = {"noise", "blank", "garbage", "torn", "padded", "glued"}


def lines_of(write: Write, plan: Plan, *, start: int = 0) -> list[bytes]:
    """Return one line per message, and damaged lines among them."""
    found: list[bytes] = []
    for number, step in enumerate(plan, start):
        found += [spelled(record, step.style) for record in write(step, f"c{number}")]
        if step.kind in _NOISE and found:
            found = _damaged(found, step)
    return found


def _damaged(lines: list[bytes], step: Step) -> list[bytes]:
    newest = lines[-1]
    match step.kind:
        case "blank":
            return [*lines, b"\n"]
        case "torn":
            return [*lines, newest[: len(newest) // 2] + b"\n"]
        case "padded":
            return [*lines, b"\0\0" + newest]
        case "glued":
            return [*lines, newest.rstrip(b"\r\n") + newest]
        case _:
            return [*lines, b"\xff not JSON\n"]


def bare(write: Write, plan: Plan) -> bytes:
    """Return a file with one message per line."""
    return last_torn(lines_of(write, plan), plan[-1].style)


def document(write: Write, plan: Plan) -> bytes:
    """Return one object with all messages, pretty-printed in some styles."""
    whole = {"model": "gpt-4o", "messages": _records(write, plan), "note": "\ud83d"}
    if plan[-1].style % 2:
        return json.dumps(whole, indent=plan[-1].style % 3).encode()
    return spelled(whole, plan[-1].style)


def array(write: Write, plan: Plan) -> bytes:
    """Return a JSON array of messages."""
    records = _records(write, plan)
    return json.dumps(records, indent=2 if plan[-1].style % 2 else None).encode() + b"\n"


def per_line(write: Write, plan: Plan) -> bytes:
    """Return several conversations, each an object with its messages on one line."""
    third = max(1, len(plan) // 3)
    parts = [plan[at : at + third] for at in range(0, len(plan), third)]
    lines = [spelled({"messages": _records(write, part)}, part[0].style) for part in parts]
    return last_torn(lines, plan[-1].style)


def _records(write: Write, plan: Plan) -> list[Record]:
    return [record for n, step in enumerate(plan) for record in write(step, f"c{n}")]


def openai(step: Step, name: str) -> Iterator[Record]:
    """Yield what a step adds to a chat of OpenAI."""
    if step.kind in _CALLS:
        names = [f"{name}-{n}" for n in range(_CALLS[step.kind])]
        calls = [_function(step, each, n) for n, each in enumerate(names)]
        yield {"role": "assistant", "content": step.text or None, "tool_calls": calls}
        for each in names if step.kind != "lost call" else ():
            yield {"role": "tool", "tool_call_id": each, "content": step.content}
    elif step.kind == "system":
        yield {"role": "system", "content": step.text}
    elif step.kind == "image":
        url = {"url": "data:image/png;base64,AAAA"}
        parts = [{"type": "text", "text": step.text}, {"type": "image_url", "image_url": url}]
        yield {"role": "user", "content": parts}
    elif step.kind in _SAID:
        yield {"role": "assistant", "content": step.text}
    else:
        yield {"role": "user", "content": step.text}


def _function(step: Step, name: str, number: int) -> Record:
    tool = ("read_file", "bash", "read_file")[(step.number + number) % 3]
    arguments = {"path": step.file} if tool == "read_file" else {"command": "ls"}
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"id": name, "type": "function", "function": function}


def anthropic(step: Step, name: str) -> Iterator[Record]:
    """Yield what a step adds to a request of Anthropic."""
    if step.kind in _CALLS:
        names = [f"{name}-{n}" for n in range(_CALLS[step.kind])]
        said = {"type": "text", "text": step.text}
        uses = [{"type": "tool_use", "id": each, **_use(step)} for each in names]
        yield {"role": "assistant", "content": [said, *uses]}
        results = [
            {"type": "tool_result", "tool_use_id": each, "content": step.content} for each in names
        ]
        if step.kind != "lost call":
            yield {"role": "user", "content": results}
    elif step.kind in _SAID:
        yield {"role": "assistant", "content": [{"type": "text", "text": step.text}]}
    else:
        yield {"role": "user", "content": [{"type": "text", "text": step.text}]}


def _use(step: Step) -> Record:
    return {"name": "Read", "input": {"file_path": step.file}}


def neurolink(step: Step, name: str) -> Iterator[Record]:
    """Yield what a step adds to a conversation of NeuroLink."""
    if step.kind in _CALLS:
        for number in range(_CALLS[step.kind]):
            yield {
                "id": f"{name}-{number}",
                "role": "tool_call",
                "content": "",
                "tool": "readFile",
                "args": {"path": step.file},
                "metadata": {"stepIndex": number},
            }
        for number in range(_CALLS[step.kind] if step.kind != "lost call" else 0):
            yield {
                "id": f"{name}-{number}-result",
                "role": "tool_result",
                "content": step.content,
                "tool": "readFile",
                "result": {"success": True},
                "metadata": {"stepIndex": number},
            }
    elif step.kind in _SAID:
        yield {"id": name, "role": "assistant", "content": step.text, "metadata": {}}
    else:
        role = "system" if step.kind == "system" else "user"
        yield {"id": name, "role": role, "content": step.text, "metadata": {"modelUsed": "gpt-4o"}}


def codex(step: Step, name: str) -> Iterator[Record]:
    """Yield what a step adds to a rollout of Codex; the first one must be ``session_meta``."""
    if step.kind in _CALLS:
        for number in range(_CALLS[step.kind]):
            command = f"cat {step.file}" if step.number % 2 else "ls"
            call = {"name": "exec_command", "arguments": json.dumps({"cmd": command})}
            yield _item(type="function_call", call_id=f"{name}-{number}", **call)
        for number in range(_CALLS[step.kind] if step.kind != "lost call" else 0):
            text = f"Output:\n{step.content}"
            yield _item(type="function_call_output", call_id=f"{name}-{number}", output=text)
    elif step.kind == "think":
        yield _item(type="reasoning", summary=[], encrypted_content="gAAAA")
    elif step.kind == "noise":
        usage = {"total_tokens": step.size, "input_tokens": step.size, "output_tokens": 1}
        info = {"last_token_usage": usage, "model_context_window": 258_400}
        yield _record("event_msg", type="token_count", info=info)
    elif step.kind == "boundary":
        history = [_said("user", "input_text", step.text)] if step.number % 2 else None
        extra = {"replacement_history": history} if history else {}
        yield _record("compacted", message=step.text, **extra)
    elif step.kind == "fork":
        yield _record("event_msg", type="thread_rolled_back", num_turns=1 + step.number % 2)
    elif step.kind in _SAID:
        yield _item(**_said("assistant", "output_text", step.text))
    else:
        role = "developer" if step.kind == "system" else "user"
        yield _item(**_said(role, "input_text", step.text))


def _said(role: str, kind: str, text: str) -> Record:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _item(**payload: object) -> Record:
    return _record("response_item", **payload)


def _record(kind: str, /, **payload: object) -> Record:
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}


def codex_rollout(plan: Plan) -> bytes:
    """Return a rollout: a header, and then what happens."""
    header = _record("session_meta", id="s", cwd="/app", instructions="Be brief.")
    lines = [spelled(header, plan[0].style), *lines_of(codex, plan)]
    return last_torn(lines, plan[-1].style)


SHAPES: dict[str, Callable[[Plan], bytes]] = {
    "openai lines": partial(bare, openai),
    "openai per line": partial(per_line, openai),
    "openai document": partial(document, openai),
    "openai array": partial(array, openai),
    "anthropic lines": partial(bare, anthropic),
    "anthropic document": partial(document, anthropic),
    "neurolink lines": partial(bare, neurolink),
    "neurolink array": partial(array, neurolink),
    "codex": codex_rollout,
}
WRITERS: dict[str, Write] = {
    "openai lines": openai,
    "anthropic lines": anthropic,
    "neurolink lines": neurolink,
    "codex": codex,
}
