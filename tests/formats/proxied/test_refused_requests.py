"""A request that the provider refused as too long is the newest report of a session's size."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from formats.claude_code import sessions as claude
from formats.codex import rollouts as codex
from formats.copilot_cli import sessions as copilot
from formats.gemini_cli import talks as gemini
from formats.jsonl import raw_lines
from formats.opencode import sessions as opencode
from formats.pi import sessions as pi

from compactctl.commands.measuring.context_size import ContextSize, context_size
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.reading.transcript import parse, split
from compactctl.model.transcript import Refusal, Transcript

Record = dict[str, Any]

TOO_LONG = "prompt is too long: 205432 tokens > 200000 maximum"
BODY = json.dumps(
    {"type": "error", "error": {"type": "invalid_request_error", "message": TOO_LONG}}
)
ASKED = "Explain the tides. " * 50


def _claude(error: str, *after: Record, **fields: Any) -> list[Record]:
    content = [{"type": "text", "text": error}]
    inner = {"id": "e", "role": "assistant", "model": "<synthetic>", "content": content}
    failed = claude.record("assistant", "x", "u", message=inner, isApiErrorMessage=True, **fields)
    return [claude.user("u", None, ASKED), failed, *after]


def _opencode(error: str) -> list[Record]:
    failed = opencode.assistant(
        opencode.message_id(1), error={"name": "APIError", "data": {"message": error}}
    )
    asked = opencode.user(opencode.message_id(0), opencode.text(ASKED))
    messages = opencode.one_second_apart([asked, failed])
    return [{"info": opencode.SESSION, "messages": messages}]


CLIENTS: dict[str, Callable[[str], list[Record]]] = {
    "claude-code": _claude,
    "codex": lambda error: [
        codex.record("session_meta", id="s"),
        codex.message("user", ASKED),
        codex.event("error", message=error),
    ],
    "pi": lambda error: [
        pi.HEADER,
        *pi.chained(
            pi.prompt(ASKED),
            pi.message("assistant", content=[], stopReason="error", errorMessage=error),
        ),
    ],
    "opencode": _opencode,
    "copilot-cli": lambda error: copilot.session(
        copilot.event("session.start", sessionId="s"),
        copilot.prompt(ASKED),
        copilot.event("session.error", errorType="query", message=error),
    ),
    "gemini-cli": lambda error: [
        gemini.SESSION,
        gemini.user("u", ASKED),
        {"id": "x", "timestamp": "2026-01-02T03:04:07.000Z", "type": "error", "content": error},
    ],
}


def transcript_of(records: list[Record]) -> Transcript:
    lines, chosen = split(raw_lines(*records), "test", None)
    return parse(lines, chosen)


def measured(transcript: Transcript) -> tuple[ContextSize, int]:
    found = measure(transcript, MeasureOptions())
    return context_size(transcript, found), found.budget.window


@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_notes_what_the_provider_refused(name: str) -> None:
    transcript = transcript_of(CLIENTS[name](f"API Error: 400 {BODY}"))
    assert transcript.format == name
    refusal = transcript.refusal
    assert refusal is not None
    assert (refusal.tokens, refusal.limit, refusal.sent) == (205_432, 200_000, 1)
    size, window = measured(transcript)
    assert (size.total, window) == (205_432, 200_000)


@pytest.mark.parametrize("name", CLIENTS)
def test_other_errors_say_nothing_of_the_size(name: str) -> None:
    assert transcript_of(CLIENTS[name]("429 rate limit reached, try again in 20s")).refusal is None


OPENAI = (
    "This model's maximum context length is 131072 tokens. However, your messages resulted in "
    "140000 tokens."
)
# The prompt is what is left without the answer's share.
WITH_ANSWER = "input length and `max_tokens` exceed context limit: 198981 + 21333 > 200000"


@pytest.mark.parametrize(
    ("error", "tokens", "limit"),
    [
        (OPENAI, 140_000, 131_072),
        (WITH_ANSWER, 198_981, 200_000),
        ("Prompt is too long", None, None),
    ],
)
def test_each_provider_has_its_own_words(error: str, tokens: int | None, limit: int | None) -> None:
    found = transcript_of(_claude(error))
    assert found.refusal == Refusal(line=1, sent=1, tokens=tokens, limit=limit)
    assert ["did not say how large" in each for each in found.warnings] == [True] * (tokens is None)


def test_newer_clients_keep_the_providers_words_beside_their_own() -> None:
    found = transcript_of(_claude("Prompt is too long", errorDetails=TOO_LONG)).refusal
    assert found is not None
    assert found.tokens == 205_432


def test_what_was_said_since_comes_on_top() -> None:
    size, _ = measured(transcript_of(_claude(TOO_LONG, claude.user("v", "x", ASKED))))
    alone, _ = measured(transcript_of([claude.user("v", None, ASKED)]))
    assert 205_432 + alone.counted <= size.total <= 205_432 + 2 * alone.counted


def test_an_answer_or_a_compaction_since_ends_it() -> None:
    usage = {"input_tokens": 900, "output_tokens": 5}
    answer = claude.said("a", "v", "Done.", inner={"usage": usage, "stop_reason": "end_turn"})
    again = _claude(TOO_LONG, claude.user("v", "x", "Again?"), answer)
    assert transcript_of(again).refusal is None
    compacted = [claude.boundary("b"), claude.summarized("s", "b", "So far.")]
    assert transcript_of(_claude(TOO_LONG, *compacted)).refusal is None
    # As does another branch.
    assert transcript_of(_claude(TOO_LONG, claude.user("w", None, ASKED))).refusal is None
