"""What a provider reported of a request does not depend on what it answered, nor on spelling."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from formats.known import WRITTEN, Known

from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.reading.transcript import parse, split
from compactctl.model.json_paths import value_at
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.store.files.source import split_lines

Record = dict[str, Any]

_SENT = frozenset(
    {"input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "promptTokenCount"}
    | {"input", "prompt"}
)
SPELLINGS: Mapping[str, Callable[[int], object]] = {
    "float": float,
    "text": str,
    "float as text": lambda count: f"{count}.0",
    "exponent": lambda count: f"{count}e0",
}


def read(data: bytes, name: str) -> Transcript:
    lines, chosen = split(split_lines(data), name, None)
    return parse(lines, chosen)


def changed(data: bytes, change: Callable[[Any], Any]) -> bytes:
    """Return a file with each of its JSON values changed."""
    try:
        return json.dumps(change(json.loads(data))).encode()
    except ValueError:
        lines = (line for line in data.split(b"\n") if line.strip())
        return b"".join(_changed_line(line, change) for line in lines)


def _changed_line(line: bytes, change: Callable[[Any], Any]) -> bytes:
    try:
        return json.dumps(change(json.loads(line))).encode() + b"\n"
    except ValueError:
        return line + b"\n"


def respelled(value: Any, spell: Callable[[int], object]) -> Any:
    """Return a value in which all counts beside those of what was sent are spelled otherwise."""
    if isinstance(value, list):
        return [respelled(item, spell) for item in value]
    if not isinstance(value, dict):
        return value
    if any(type(value.get(name)) is int for name in _SENT):
        return _respelled_counts(value, spell)
    return {name: respelled(item, spell) for name, item in value.items()}


def _respelled_counts(value: Any, spell: Callable[[int], object]) -> Any:
    if isinstance(value, dict):
        return {name: _respelled_counts(item, spell) for name, item in value.items()}
    return spell(value) if type(value) is int else value


def has_usage(known: Known) -> bool:
    data = known.place.read_bytes()
    return any(message.usage for message in read(data, known.path).messages)


REPORTED = [known for known in WRITTEN if has_usage(known)]
# Codex reports on other lines than its answers, and a chat of changes has its answers in several.
ANSWERED = [
    known
    for known in REPORTED
    if known.format != "codex" and not known.path.endswith("changes.jsonl")
]


@pytest.mark.parametrize("known", REPORTED, ids=[known.path for known in REPORTED])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_count_is_read_in_any_spelling(known: Known, spelling: str) -> None:
    data = known.place.read_bytes()
    other = changed(data, lambda value: respelled(value, SPELLINGS[spelling]))
    assert other != data
    before, after = read(data, known.path), read(other, known.path)
    assert [message.usage for message in after.messages] == [
        message.usage for message in before.messages
    ]
    assert size(after) == size(before)


def size(transcript: Transcript) -> tuple[int, int, str]:
    measured = measure(transcript, MeasureOptions())
    context = context_size(transcript, measured)
    return context.total, measured.budget.window, context.doubt


@pytest.mark.parametrize("known", ANSWERED, ids=[known.path for known in ANSWERED])
def test_an_answer_without_content_reports_the_same(known: Known) -> None:
    data = known.place.read_bytes()
    newest = newest_answer(read(data, known.path))
    whole = until(data, newest)
    before, after = read(whole, known.path), read(emptied(whole, newest), known.path)
    answer = newest_answer(after)
    assert answer.parts == ()
    assert (answer.usage, answer.model) == (newest.usage, newest.model)
    assert (answer.timestamp, after.session.model) == (newest.timestamp, before.session.model)
    assert size(after)[1] == size(before)[1]
    # What was sent is as large; what was answered is as large as it was reported to be.
    assert newest.usage is not None
    assert size(after)[0] >= min(newest.usage.context, size(before)[0] - counted(newest, before))


def newest_answer(transcript: Transcript) -> Message:
    return next(m for m in reversed(transcript.effective) if m.usage and m.usage.context > 0)


def counted(message: Message, transcript: Transcript) -> float:
    return measure(transcript, MeasureOptions()).framed.total(message)


def until(data: bytes, message: Message) -> bytes:
    """Return a file that ends with the record of a message."""
    lines = data.splitlines(keepends=True)
    if all(line.startswith(b"{") for line in lines[:2]) and len(lines) > 1:
        return b"".join(lines[: message.line + 1])
    document = json.loads(data)
    *array, index = message.record_path
    if isinstance(index, int):
        del value_at(document, tuple(array))[index + 1 :]
    return json.dumps(document).encode()


def emptied(data: bytes, message: Message) -> bytes:
    """Return a file in which a message has only empty lists and texts."""
    lines = data.splitlines(keepends=True)
    record = json.loads(lines[message.line])
    for part in message.parts:
        steps = range(len(message.record_path), len(part.path))
        in_list = [step for step in steps if isinstance(part.path[step], int)]
        *holder, key = part.path[: in_list[0]] if in_list else part.path
        value_at(record, tuple(holder))[key] = [] if in_list else ""
    lines[message.line] = json.dumps(record).encode() + b"\n"
    return b"".join(lines)


def _chat(**answer: Any) -> Record:
    usage = {"prompt_tokens": 120_000, "completion_tokens": 8_000}
    request = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello there"}]}
    return {"request": request, "response": {"id": "r", "usage": usage, **answer}}


def _choice(**message: Any) -> Record:
    return _chat(choices=[{"finish_reason": "length", "message": {"role": "assistant", **message}}])


def _anthropic(**answer: Any) -> Record:
    usage = {"input_tokens": 120_000, "output_tokens": 8_000}
    facts = {"type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    request = {"system": "x", "messages": [{"role": "user", "content": "hello there"}]}
    return {"request": request, "response": {**facts, "stop_reason": "refusal", **answer}}


def _gemini(**answer: Any) -> Record:
    usage = {"promptTokenCount": 120_000, "candidatesTokenCount": 8_000}
    facts = {"usageMetadata": usage, "modelVersion": "gemini-2.5-pro"}
    request = {"contents": [{"role": "user", "parts": [{"text": "hello there"}]}]}
    return {"request": request, "response": {**facts, **answer}}


def _responses(**answer: Any) -> Record:
    usage = {"input_tokens": 120_000, "output_tokens": 8_000}
    facts = {"object": "response", "status": "incomplete", "usage": usage}
    request = {"model": "gpt-5", "input": [{"role": "user", "content": "hello there"}]}
    return {"request": request, "response": {**facts, **answer}}


def _bedrock(**answer: Any) -> Record:
    usage = {"inputTokens": 120_000, "outputTokens": 8_000}
    request = {"messages": [{"role": "user", "content": [{"text": "hello there"}]}]}
    return {
        "modelId": "anthropic.claude-3-5-sonnet-20240620-v1:0",
        "input": {"inputBodyJson": {**request, "inferenceConfig": {"maxTokens": 5}}},
        "output": {"outputBodyJson": {"stopReason": "max_tokens", "usage": usage, **answer}},
    }


EMPTY: Mapping[str, Record] = {
    "no text": _choice(content=""),
    "null": _choice(content=None),
    "no parts": _choice(content=[]),
    "no content": _choice(),
    "refused": _choice(content=None, refusal=None, tool_calls=[]),
    "no message": _chat(choices=[{"finish_reason": "content_filter"}]),
    "no choice": _chat(choices=[]),
    "no choices": _chat(),
    "not stored": {
        **_chat(),
        "response": None,
        "prompt_tokens": 120_000,
        "completion_tokens": 8_000,
    },
    "anthropic, no blocks": _anthropic(content=[]),
    "anthropic, null": _anthropic(content=None),
    "anthropic, no content": _anthropic(),
    "gemini, no parts": _gemini(candidates=[{"content": {"role": "model"}}]),
    "gemini, no content": _gemini(candidates=[{"finishReason": "SAFETY"}]),
    "gemini, no candidate": _gemini(candidates=[]),
    "gemini, blocked": _gemini(promptFeedback={"blockReason": "SAFETY"}),
    "responses, no items": _responses(output=[]),
    "responses, null": _responses(output=None),
    "responses, no content": _responses(
        output=[{"type": "message", "role": "assistant", "content": []}]
    ),
    "bedrock, no blocks": _bedrock(output={"message": {"role": "assistant", "content": []}}),
    "bedrock, no content": _bedrock(output={"message": {"role": "assistant"}}),
    "bedrock, no message": _bedrock(output={}),
    "bedrock, null": _bedrock(output=None),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_logged_answer_reports_the_same_whatever_is_missing(name: str) -> None:
    data = json.dumps(EMPTY[name]).encode() + b"\n"
    transcript = read(data, "log.jsonl")
    answer = newest_answer(transcript)
    assert (answer.parts, answer.origin.is_logged_answer) == ((), True)
    assert transcript.session.model is not None
    assert size(transcript)[0] == 128_000
