"""Records of Codex, one call each."""

from typing import Any


def item(kind: str, **fields: object) -> dict[str, Any]:
    payload = {"type": kind, **fields}
    return {"timestamp": "2026-01-02T03:04:05.006Z", "type": "response_item", "payload": payload}


def record(kind: str, **payload: object) -> dict[str, Any]:
    return {"timestamp": "2026-01-02T03:04:05.006Z", "type": kind, "payload": payload}


def event(kind: str, **fields: object) -> dict[str, Any]:
    return record("event_msg", type=kind, **fields)


def message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def call(call_id: str, arguments: str = "{}", name: str = "exec_command") -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=call_id)


def output(call_id: str, value: object) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=value)


def tokens(context: int, output_tokens: int, total: int, window: int = 258_400) -> dict[str, Any]:
    last = {"input_tokens": context, "output_tokens": output_tokens, "total_tokens": context}
    info = {
        "last_token_usage": last,
        "total_token_usage": {"total_tokens": total},
        "model_context_window": window,
    }
    return event("token_count", info=info)
