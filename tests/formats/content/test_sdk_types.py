"""What a compaction leaves is what the SDKs of Anthropic and OpenAI take."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file
from formats.claude_code.sessions import response_line
from formats.claude_code.sessions import user as claude_user
from formats.codex.rollouts import item
from formats.content.block_kinds import (
    Block,
    anthropic_messages,
    blocks_of,
    chat_messages,
    response_items,
)
from formats.content.one_stage_plans import STAGES
from stage_examples import EXAMPLES
from unit.commands.conversations import saved

from compactctl.commands.planning.plan import PlanOptions
from compactctl.pipeline.layout import Layout

pytestmark = pytest.mark.long


def claude_code() -> Iterator[Block]:
    """Yield the same blocks as records of Claude Code."""
    parent: str | None = None
    for number, message in enumerate(anthropic_messages()):
        name = f"u{number}"
        if message["role"] == "user":
            yield claude_user(name, parent, message["content"])
        else:
            yield response_line(name, parent, {}, "", inner={"content": message["content"]})
        parent = name


def claude_message(record: Block) -> Block:
    return {name: record["message"][name] for name in ("role", "content")}


# A file with every block, the module and the type of a message in it, and where that stands.
FILES: Mapping[str, tuple[list[Block], str, str, Callable[[Block], Any]]] = {
    "anthropic-messages": (
        anthropic_messages(),
        "anthropic.types.beta",
        "BetaMessageParam",
        lambda record: record,
    ),
    "claude-code": (
        list(claude_code()),
        "anthropic.types.beta",
        "BetaMessageParam",
        claude_message,
    ),
    "openai-chat": (
        chat_messages(),
        "openai.types.chat",
        "ChatCompletionMessageParam",
        lambda record: record,
    ),
    "openai-responses": (
        response_items(),
        "openai.types.responses.response_input_item_param",
        "ResponseInputItemParam",
        lambda record: record,
    ),
    "openai-responses request": (
        [{"model": "gpt-5.1", "instructions": "Be brief.", "input": response_items()}],
        "openai.types.responses.response_create_params",
        "ResponseCreateParamsNonStreaming",
        lambda record: record,
    ),
    "openai-chat request": (
        [{"model": "gpt-5.1", "messages": chat_messages()}],
        "openai.types.chat.completion_create_params",
        "CompletionCreateParamsNonStreaming",
        lambda record: record,
    ),
    "anthropic-messages request": (
        [
            {
                "model": "claude-sonnet-4-5",
                "max_tokens": 1000,
                "system": "Be brief.",
                "messages": anthropic_messages(),
            }
        ],
        "anthropic.types.beta.message_create_params",
        "MessageCreateParamsNonStreaming",
        lambda record: record,
    ),
    "codex": (
        [item(each["type"], **each) for each in response_items()],
        "openai.types.responses.response_input_item_param",
        "ResponseInputItemParam",
        lambda record: record["payload"],
    ),
}


@pytest.mark.parametrize(("keep", "layout"), [(0.7, "split"), (0.4, "inline"), (0.1, "split")])
@pytest.mark.parametrize("stages", STAGES, ids="+".join)
@pytest.mark.parametrize("name", FILES)
def test_messages_are_of_the_types_of_the_sdk(
    name: str, stages: tuple[str, ...], keep: float, layout: Layout, tmp_path: Path
) -> None:
    records, module, type_name, message_in = FILES[name]
    types = pytest.importorskip(module, reason="the SDK is not installed: pip install .[dev-long]")
    adapter = pytest.importorskip("pydantic").TypeAdapter(getattr(types, type_name))
    path, out = saved(tmp_path / "every.jsonl", records), tmp_path / "o.jsonl"
    plan = PlanOptions(stages=stages, keep=keep, settings=EXAMPLES)
    compact_file(path, output=out, layout=layout, plan=plan)
    for file in (path, out):
        for line in file.read_text().splitlines():
            message = message_in(json.loads(line))
            read_whole(adapter.validate_python(message))
            assert not list(empty_texts(message))


def read_whole(value: object) -> None:
    """Read all iterables in a value, which pydantic checks as they are read."""
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str):
        for each in value:
            read_whole(each)


def empty_texts(message: Block) -> Iterator[Mapping[str, Any]]:
    """Yield blocks of text with nothing in them, which a provider refuses beside the types."""
    for block in blocks_of(message):
        if block["type"] == "text" and not str(block.get("text", block.get("data"))).strip():
            yield block
