"""Messages of Bedrock Converse."""

import base64
from typing import Any

from formats.content.block_kinds import PAGES, PICTURE, words

Record = dict[str, Any]


def text(said: str) -> Record:
    return {"text": said}


def user(*blocks: Record) -> Record:
    return {"role": "user", "content": [*blocks]}


def assistant(*blocks: Record) -> Record:
    return {"role": "assistant", "content": [*blocks]}


def use(name: str, call_id: str, **arguments: object) -> Record:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def result(call_id: str, *content: Record, **fields: object) -> Record:
    found = {"toolUseId": call_id, "content": [*content], "status": "success", **fields}
    return {"toolResult": found}


def talk(turns: int = 4) -> list[Record]:
    """Return a talk in which every turn reads the same file and runs a command at once."""
    source = "\n".join(f"LEVEL_{n} = {n * 17 % 23}  # above the sill" for n in range(8))
    found: list[Record] = []
    for turn in range(turns):
        c, d = f"c{turn}", f"d{turn}"
        ran = f"run {turn}: " + "sluice and gate agree; " * 9
        found += [
            user(text(f"Check the gate once more, part {turn}: is level {turn} right?")),
            assistant(use("read", c, path="gate.py"), use("shell", d, command=f"make {turn}")),
            user(result(c, text(source)), result(d, {"json": {"output": ran}})),
            assistant(text(f"Level {turn} is right; I changed nothing.")),
        ]
    return found


def response(*blocks: Record, **usage: object) -> Record:
    """Return what Converse answers to a request of 1,000 tokens."""
    counts = {"inputTokens": 1000, "outputTokens": 50, "totalTokens": 1050, **usage}
    return {
        "output": {"message": assistant(*blocks)},
        "stopReason": "end_turn",
        "usage": counts,
        "metrics": {"latencyMs": 900},
    }


def every(turns: int = 6) -> list[Record]:
    """Return a talk with a block of every kind that Converse takes."""
    image = {"image": {"format": "png", "source": {"bytes": PICTURE}}}
    found: list[Record] = []
    for n in range(turns):
        document = {"format": "pdf", "name": f"page {n}", "source": {"bytes": PAGES}}
        notes = {"format": "txt", "name": f"notes {n}", "source": {"text": words(n)}}
        data = base64.b64encode(words(n).encode()).decode()
        table = {"format": "csv", "name": f"table {n}", "source": {"bytes": data}}
        stored = {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/a.mp4"}}}
        rule = {"source": "a.md", "title": "A", "content": [{"text": words(n)}]}
        found_there = {"searchResult": {**rule, "citations": {"enabled": True}}}
        guarded = {"text": {"text": words(n, 20), "qualifiers": ["guard_content"]}}
        signed = {"text": words(n, 9), "signature": "EqoB" + "q" * 80}
        cited = {"content": [text("It rains.")], "citations": [{"title": "A", "source": "a.md"}]}
        c, d, e = f"c{n}", f"d{n}", f"e{n}"
        found += [
            user(
                text(f"Look at all of {n}."),
                image,
                *({"document": each} for each in (document, notes, table)),
                {"video": stored},
                {"guardContent": guarded},
                found_there,
                {"cachePoint": {"type": "default"}},
            ),
            assistant(
                {"reasoningContent": {"reasoningText": signed}},
                {"reasoningContent": {"redactedContent": "EqoB"}},
                text("I look."),
                *(use("read", name, path="gate.py", text=words(n, 20)) for name in (c, d, e)),
            ),
            user(
                result(c, text(words(n)), image, {"document": document}),
                result(d, {"json": {"output": words(n)}}, status="error"),
                result(e, found_there, text("and no more")),
            ),
            assistant({"citationsContent": cited}, text(words(n, 20))),
        ]
    return found
