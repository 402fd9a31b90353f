"""Small talks in every dialect, in every envelope, in every layer that logs put around lines."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from formats import anthropic_talk, openai_talk
from formats.logs import contents, converse, response_items, ui_messages
from properties.spelling import Record

TIME = "2026-01-01T00:00:00.123456789Z"
# The messages of each dialect, and what its requests call them.
TALKS: Mapping[str, tuple[list[Record], str]] = {
    "openai-chat": (openai_talk.TALK, "messages"),
    "anthropic-messages": (anthropic_talk.TALK, "messages"),
    "openai-responses": (response_items.talk(2), "input"),
    "gemini-api": (contents.talk(2), "contents"),
    "ai-sdk": (ui_messages.talk(2), "messages"),
    "bedrock-converse": (converse.talk(2), "messages"),
}
# The values of a file; names as those of the envelope table.
ENVELOPES: Mapping[str, Callable[[list[Record], str], list[Any]]] = {
    "lines": lambda talk, _: [*talk],
    "array": lambda talk, _: [talk],
    "arrays": lambda talk, _: [[talk, talk]],
    "request": lambda talk, name: [{"model": "m", name: talk}],
    "requests in an array": lambda talk, name: [[{name: talk}, {name: talk}]],
    "gateway": lambda talk, name: [{"request": {name: talk}, "response": {"error": "timeout"}}],
    "Helicone": lambda talk, name: [{"request_id": "r", "request_body": {name: talk}}],
    "batch": lambda talk, name: [{"custom_id": "r", "method": "POST", "body": {name: talk}}],
    "params": lambda talk, name: [{"custom_id": "r", "params": {name: talk}}],
    "LangSmith": lambda talk, name: [{"run_type": "llm", "inputs": {name: talk}, "outputs": None}],
    "Langfuse": lambda talk, _: [{"traceId": "t", "input": talk, "output": None}],
    "spend log": lambda talk, name: [
        {"call_type": "acompletion", "proxy_server_request": json.dumps({name: talk})}
    ],
}


def lines_of(values: list[Any]) -> list[str]:
    return [json.dumps(value) for value in values]


# A layer around the lines; what stands before JSON stands before objects alone.
LAYERS: Mapping[str, Callable[[list[Any]], str]] = {
    "plain": lambda values: "\n".join(lines_of(values)) + "\n",
    "docker": lambda values: "".join(
        json.dumps({"log": f"{line}\n", "stream": "stdout", "time": TIME}) + "\n"
        for line in lines_of(values)
    ),
    "kubernetes": lambda values: "".join(
        f"{TIME} stdout F {line}\n" for line in lines_of(values) if line.startswith("{")
    ),
}


def each_row() -> dict[str, tuple[str, bytes]]:
    """Return the dialect and the bytes of every such file, by what it is called."""
    found = {}
    for dialect, (talk, name) in TALKS.items():
        for envelope, around in ENVELOPES.items():
            for layer, written in LAYERS.items():
                data = written(around(talk, name))
                if data:
                    found[f"{dialect}, {envelope}, {layer}"] = (dialect, data.encode())
    return found
