"""Documents of many formats are compacted with every stage in both layouts, and restored."""

import json
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from formats.agent_code import sessions as agent_code
from formats.cline import tasks as cline
from formats.gemini_cli import talks as gemini
from formats.jsonl import raw_lines
from formats.logs import contents, converse, response_items, ui_messages
from formats.opencode import sessions as opencode
from formats.spring_ai import events as spring
from formats.squeeze import ALL, PLANS, USUAL, squeezed

from compactctl.pipeline.layout import Layout


def _lines(*records: object) -> bytes:
    return b"".join(raw_lines(*records))


def _document(value: object) -> bytes:
    """Write a document over many lines, with tabs and without a line break at the end."""
    return json.dumps(value, indent="\t", ensure_ascii=False).encode()


def _longer(document: bytes) -> bytes:
    """Return a document with longer contents of the files it reads."""
    return document.replace(b"content of", b"content " * 90 + b"of")


def _spring(make: Any) -> bytes:
    names = count()
    events = [{**event, "id": f"e{next(names)}"} for _ in range(6) for event in spring.talk(make)]
    return _longer(_document({"events": events}))


def _mini_swe_agent() -> bytes:
    turn = [
        ("user", "The parser drops the last line."),
        ("assistant", "THOUGHT: look first.\n\n```bash\ncat parser.py\n```"),
        ("user", f"<returncode>0</returncode>\n<output>\n{'tests ' * 90}\n</output>"),
        ("assistant", "It is mended."),
    ]
    messages = [{"role": role, "content": text} for role, text in turn * 6]
    return _document({"messages": messages, "trajectory_format": "mini-swe-agent-1"})


def _bedrock() -> bytes:
    request = {"system": [converse.text("Be brief.")], "messages": converse.talk(6)}
    row = {"schemaType": "ModelInvocationLog", "operation": "Converse", "modelId": "us.amazon.nova"}
    answer = {"outputBodyJson": converse.response(converse.text("Done."))}
    return _document({**row, "input": {"inputBodyJson": request}, "output": answer})


def _gemini_api(*, ids: bool) -> bytes:
    system = contents.user(contents.text("Be brief."))
    request = {"systemInstruction": system, "contents": contents.talk(6, ids=ids)}
    answer = contents.response(contents.text("Done."))
    return _document({"key": "r", "request": request, "response": answer})


def _responses() -> Iterator[tuple[str, bytes]]:
    request, talk, more = response_items.request, response_items.talk, response_items.talk(8)[-3:]
    response = response_items.response("r", *more)
    yield "openai-responses", _document(talk(8))
    yield "openai-responses js", _document(response_items.js_talk(8))
    yield "openai-responses request", _document(request(talk(8)))
    yield "openai-responses response", _document(request(talk(7), response))
    gateway = {"request": request(talk(7)), "response": response}
    yield "openai-responses gateway", _document(gateway)
    yield "openai-responses chain", _lines(*response_items.chain(8))


DOCUMENTS: Mapping[str, bytes] = {
    "agent-code": _longer(_document(agent_code.session(agent_code.NOTE, *agent_code.repeated(6)))),
    "ai-sdk": _document({"id": "chat", "messages": ui_messages.talk(6)}),
    "ai-sdk older": _document({"id": "chat", "messages": ui_messages.older_talk(6)}),
    "bedrock-converse": _bedrock(),
    "cline": _document(cline.task()),
    "cline one line": json.dumps(cline.task()).encode(),
    "cline session": _document({"sessionId": "s", "messages": cline.task()}),
    "gemini-api": _gemini_api(ids=False),
    "gemini-api ids": _gemini_api(ids=True),
    "gemini-cli": _lines(*gemini.logged()),
    "gemini-cli document": _document({**gemini.SESSION, "messages": gemini.talk()}),
    "gemini-cli resumed": _lines(
        *gemini.logged(),
        gemini.put(*gemini.talk()),
        gemini.user("u9", "and now?"),
        gemini.gemini("g9", "All is done."),
    ),
    "mini-swe-agent": _mini_swe_agent(),
    "opencode": _document(opencode.session()),
    **dict(_responses()),
    "spring-ai": _spring(spring.event),
    "spring-ai rows": _spring(spring.row),
}
READS_NO_FILE = {"openai-responses"}


def _is_usual(name: str, stages: tuple[str, ...]) -> bool:
    """Whether a change is tested so: the first document of a format with a stage of each kind."""
    return stages == ALL or (stages in USUAL and " " not in name)


CASES = [
    pytest.param(
        (name, stages),
        id=f"{name}-{'+'.join(stages)}",
        marks=() if _is_usual(name, stages) else pytest.mark.long,
    )
    for name in DOCUMENTS
    for stages in PLANS
]


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("case", CASES)
def test_a_document_is_compacted_and_restored(
    case: tuple[str, tuple[str, ...]], layout: Layout, tmp_path: Path
) -> None:
    name, stages = case
    path = tmp_path / "in.json"
    path.write_bytes(DOCUMENTS[name])
    result = squeezed(path, stages, layout, tmp_path)

    assert result.format == name.partition(" ")[0]
    assert result.compacted or (stages == ("dedup",) and result.format in READS_NO_FILE)
