"""Blocks of every kind: counted, and what only a provider understands is never rewritten."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, load_file
from formats.claude_code.sessions import attached, response_line
from formats.claude_code.sessions import user as claude_user
from formats.codex.rollouts import item
from formats.content.block_kinds import (
    PAGES,
    PICTURE,
    Block,
    anthropic_messages,
    blocks_of,
    chat_messages,
    own_items,
    response_items,
    server_pairs,
    words,
)
from formats.content.one_stage_plans import STAGES
from formats.gemini_cli.talks import SESSION
from formats.jsonl import read, texts
from stage_examples import EXAMPLES
from unit.commands.conversations import saved

from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans, tool_pairs
from compactctl.model.message import Message, Part, is_replaceable, media_of

# Where a block of an assistant's message may stand.
HOLDERS: Mapping[str, Any] = {
    "anthropic-messages": lambda blocks: [{"role": "assistant", "content": blocks}],
    "openai-chat": lambda blocks: [{"role": "assistant", "content": blocks}],
    "claude-code": lambda blocks: [
        claude_user("u", None, "go"),
        response_line("a", "u", {}, "r", inner={"content": blocks}),
    ],
    "agent-code": lambda blocks: [
        {"messages": [{"type": "assistant", "uuid": "a", "content": blocks}]}
    ],
    "cline": lambda blocks: [[{"role": "assistant", "content": blocks, "ts": 1}]],
    "roo": lambda blocks: [[{"role": "assistant", "content": blocks, "ts": 1}]],
    "pi": lambda blocks: [
        {"type": "session", "id": "s", "timestamp": "t"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "message": {"role": "assistant", "content": blocks},
        },
    ],
    "gemini-cli": lambda blocks: [SESSION, {"id": "g", "type": "gemini", "content": blocks}],
}
UNKNOWN: list[Block] = [
    {"type": "not_known_yet", "text": words(1)},
    {"type": "not_known_yet", "inner": [{"data": PICTURE, "mimeType": "image/png"}]},
    {"type": "resource", "resource": {"uri": "a", "mimeType": "application/pdf", "blob": PAGES}},
    {"type": "audio", "data": PAGES, "mimeType": "audio/wav"},
    {"image": {"format": "png", "source": {"bytes": PICTURE}}},
    {"executableCode": {"language": "PYTHON", "code": words(1)}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": words(1)}},
]
RESPONSES = [pytest.param(each, id=each["type"]) for each in own_items(0)]


def only_message(name: str, blocks: list[Block]) -> Message:
    return read(name, *HOLDERS[name](blocks)).effective[-1]


def said(parts: tuple[Part, ...]) -> str:
    return json.dumps([str(part) for part in parts])


def data_of(block: Block) -> list[str]:
    text = json.dumps(block)
    encrypted = re.findall(r'"encrypted_\w+": "([^"]{256,})"', text)
    return [*(data for data in (PICTURE, PAGES) if data in text), *encrypted]


@pytest.mark.parametrize("name", [name for name in HOLDERS if name not in {"pi", "gemini-cli"}])
def test_what_tools_of_a_provider_return_stays_with_its_call(name: str) -> None:
    pairs = list(server_pairs(0))
    message = only_message(name, [block for pair in pairs for block in pair])
    assert not any(map(is_replaceable, message.parts))
    assert len(tool_pairs([message])) == len(message.calls) == len(pairs)
    for block, result in zip((block for _, block in pairs), message.results, strict=True):
        data = data_of(block)
        assert len(media_of(result)) == len(data)
        assert not any(each in result.text for each in data)
        assert data or len(result.text) > 1_000


@pytest.mark.parametrize(
    ("name", "block"),
    # Parts of Gemini have no type: what has a text is one. Claude Code drops what has none.
    [
        (n, block)
        for n in HOLDERS
        for block in UNKNOWN
        if not (
            (n == "gemini-cli" and "text" in block) or (n == "claude-code" and "type" not in block)
        )
    ],
    ids=lambda each: str(each)[:40],
)
def test_an_unknown_block_is_counted_and_stays(name: str, block: Block) -> None:
    message = only_message(name, [block])
    assert not any(map(is_replaceable, message.parts))
    data = data_of(block)
    assert len([media for part in message.parts for media in media_of(part)]) == len(data)
    assert not any(each in said(message.parts) for each in data)
    assert data or "line 5 of text 1" in said(message.parts)


@pytest.mark.parametrize("own", RESPONSES)
def test_items_of_openais_own_tools_are_counted_and_stay(own: Block) -> None:
    (message,) = read("openai-responses", own).effective
    assert not any(map(is_replaceable, message.parts))
    data = data_of(own)
    assert len([media for part in message.parts for media in media_of(part)]) == len(data)
    assert not any(each in said(message.parts) for each in data)
    assert "line 5 of text 0" not in json.dumps(own) or "line 5 of text 0" in said(message.parts)


@pytest.mark.parametrize("kind", ["image", "pdf"])
def test_a_picture_or_paper_that_claude_code_attached_is_no_text(kind: str) -> None:
    file = {"base64": PICTURE, "type": "image/png"} if kind == "image" else {"base64": PAGES}
    content = {"type": kind, "file": file}
    (message,) = read(
        "claude-code", attached("a", None, "file", filename="a", content=content)
    ).effective
    (part,) = message.parts
    assert [media.n_bytes > 1_000 for media in media_of(part)] == [True]
    assert not is_replaceable(part)


def test_data_of_no_type_that_may_be_anything_is_text() -> None:
    digits = "0123456789abcdef" * 40
    message = only_message("anthropic-messages", [{"type": "not_known_yet", "data": digits}])
    assert digits in said(message.parts)


def test_a_picture_in_a_queued_prompt_of_claude_code_is_no_text() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    prompt = [{"type": "text", "text": "like this"}, {"type": "image", "source": source}]
    (message,) = read("claude-code", attached("a", None, "queued_command", prompt=prompt)).effective
    assert texts((message,)) == ["like this | <image/png>"]
    assert all(map(is_replaceable, message.parts))


@pytest.mark.parametrize("content", [words(1), [{"type": "text", "text": words(1)}]], ids=type)
def test_a_document_of_blocks_is_a_file(content: object) -> None:
    source = {"type": "content", "content": content}
    document = {"type": "document", "title": "Contract", "source": source}
    message = only_message("anthropic-messages", [document])
    assert [getattr(part, "file_path", "") for part in message.parts] == ["Contract"]
    assert texts((message,)) == [words(1)]


# What compactctl may rewrite, in files with every block.
REWRITABLE = {
    "text", "input_text", "output_text", "refusal", "tool_use", "tool_result", "mcp_tool_result",
    "function", "custom", "function_call", "function_call_output", "custom_tool_call",
    "custom_tool_call_output", "message", "image", "document", "image_url", "input_image",
    "response_item", "session_meta", "content", "web_search_result_location",
}  # fmt: skip
FILES: Mapping[str, list[Block]] = {
    "anthropic-messages": anthropic_messages(3),
    "openai-chat": chat_messages(3),
    "codex": [item(each["type"], **each) for each in response_items(3)],
}
USUAL = ((), ("prune",), ("shorten",))


@pytest.mark.parametrize(
    "stages",
    [pytest.param(s, marks=() if s in USUAL else pytest.mark.long, id="+".join(s)) for s in STAGES],
)
@pytest.mark.parametrize("name", FILES)
def test_no_stage_rewrites_what_only_a_provider_understands(
    name: str, stages: tuple[str, ...], tmp_path: Path
) -> None:
    path, out = saved(tmp_path / "every.jsonl", FILES[name]), tmp_path / "o.jsonl"
    plan = PlanOptions(stages=stages, keep=0.5, settings=EXAMPLES)
    compact_file(path, output=out, plan=plan)
    assert sealed(out) <= sealed(path)
    assert not find_orphans(load_file(out).transcript.effective)


def sealed(path: Path) -> set[str]:
    """Return the blocks in a file that are never rewritten."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    found = (block for block in blocks_of(records) if block["type"] not in REWRITABLE)
    return {json.dumps(block, sort_keys=True) for block in found}
