"""Contents of the Gemini API, with names in camel case and in snake case."""

import json
import re
from typing import Any

from formats.content.block_kinds import PAGES, PICTURE, words

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


def every(turns: int = 6) -> list[Record]:
    """Return a talk with a part of every kind that the API takes."""
    inline = {"inlineData": {"mimeType": "image/png", "data": PICTURE}}
    pages = {"inlineData": {"mimeType": "application/pdf", "data": PAGES}}
    stored = {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/a.mp4"}}
    found: list[Record] = []
    for n in range(turns):
        signed = {**call("read", f"c{n}", text=words(n, 20)), "thoughtSignature": "EqoB"}
        code = {"executableCode": {"language": "PYTHON", "code": words(n, 20)}}
        ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": words(n)}}
        found += [
            user(text(f"Look at all of {n}."), inline, pages, stored),
            model(
                {"text": words(n, 9), "thought": True, "thoughtSignature": "EqoB"},
                text("I look."),
                signed,
                *(call("shell", f"{name}{n}") for name in "def"),
            ),
            user(
                answer("read", {"output": words(n)}, f"c{n}"),
                answer("shell", {"rows": [words(n)]}, f"d{n}"),
                answer("shell", {"error": words(n)}, f"e{n}"),
                answer("shell", {"result": words(n)}, f"f{n}", parts=[inline]),
            ),
            model(code, ran, text(words(n, 20))),
        ]
    return found
