"""Contents of the Gemini API, with names in camel case and in snake case."""

import json
import re
from typing import Any

Record = dict[str, Any]


def text(said: str) -> Record:
    return {"text": said}


def user(*parts: Record) -> Record:
    return {"role": "user", "parts": [*parts]}


def model(*parts: Record) -> Record:
    return {"role": "model", "parts": [*parts]}


def call(name: str, call_id: str = "", **args: object) -> Record:
    named = {"id": call_id} if call_id else {}
    return {"functionCall": {**named, "name": name, "args": args}}


def answer(name: str, response: Record, call_id: str = "", **fields: object) -> Record:
    named = {"id": call_id} if call_id else {}
    return {"functionResponse": {**named, "name": name, "response": response, **fields}}


def talk(turns: int = 4, *, ids: bool = False) -> list[Record]:
    """Return a talk in which every turn reads the same file and runs a command at once."""
    source = "\n".join(f"LEVEL_{n} = {n * 17 % 23}  # above the sill" for n in range(8))
    found: list[Record] = []
    for turn in range(turns):
        c, d = (f"c{turn}", f"d{turn}") if ids else ("", "")
        ran = f"run {turn}: " + "sluice and gate agree; " * 9
        found += [
            user(text(f"Check the gate once more, part {turn}: is level {turn} right?")),
            model(call("read", c, path="gate.py"), call("shell", d, command=f"make {turn}")),
            user(answer("read", {"output": source}, c), answer("shell", {"result": ran}, d)),
            model(text(f"Level {turn} is right; I changed nothing.")),
        ]
    return found


def snake(value: Any) -> Any:
    """Return a value with its names as the Python SDK writes them."""
    words = re.compile(r'"(\w+)":')
    lower = re.compile("[A-Z]")
    return json.loads(
        words.sub(
            lambda found: lower.sub(lambda letter: f"_{letter[0].lower()}", found[0]),
            json.dumps(value),
        )
    )


def usage(sent: int, said: int, thought: int = 0) -> Record:
    total = {"totalTokenCount": sent + said + thought}
    thoughts = {"thoughtsTokenCount": thought} if thought else {}
    return {"promptTokenCount": sent, "candidatesTokenCount": said, **thoughts, **total}


def response(*parts: Record, **counts: int) -> Record:
    """Return a response of the API to a request of 1,000 tokens."""
    return {
        "candidates": [{"content": model(*parts), "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage(1000, **{"said": 50, **counts}),
        "modelVersion": "gemini-2.5-pro",
        "responseId": "r1",
    }
