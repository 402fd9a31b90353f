"""A session at a glance, by the figures that its client gives to a status line."""

from pathlib import Path
from typing import Any

import pytest

from compactctl.commands.integrations.statusline import statusline

USAGE = {
    "input_tokens": 3,
    "output_tokens": 50,
    "cache_creation_input_tokens": 900,
    "cache_read_input_tokens": 130_000,
}
BOUNDARY = b'{"type":"system","subtype":"compact_boundary","uuid":"b"}\n'


def told(tokens: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"session_id": "6f0c", "context_window": tokens, **more}


def test_the_answer_is_no_part_of_the_context() -> None:
    found = statusline(told({"context_window_size": 200_000, "current_usage": USAGE}))
    assert (found.context, found.window) == (130_903, 200_000)
    assert found.compacts_at is not None
    assert 130_903 < found.compacts_at < 200_000


@pytest.mark.parametrize(
    ("model", "recorded", "context", "window"),
    [
        ("claude-opus-4-6[1m]", 200_000, 219_313, 1_000_000),
        ("claude-opus-4-6[1m]", 200_000, 20_000, 1_000_000),
        ("claude-sonnet-4-5-20250929[1m]", 200_000, 20_000, 1_000_000),
        ("claude-opus-4-6", 200_000, 219_313, 1_000_000),
        ("claude-opus-4-6", 200_000, 200_000, 200_000),
        ("claude-opus-4-6", 1_000_000, 219_313, 1_000_000),
        ("a model that nobody knows", 300_000, 20_000, 300_000),
        (None, 200_000, 20_000, 200_000),
    ],
)
def test_the_model_and_what_it_answered_decide_the_window(
    model: str | None, recorded: int, context: int, window: int
) -> None:
    tokens = {"context_window_size": recorded, "current_usage": {"input_tokens": context}}
    found = statusline(told(tokens, model={"id": model}))
    assert (found.context, found.window) == (context, window)
    assert found.compacts_at is not None
    assert found.compacts_at < window


def test_a_client_that_counts_itself_is_believed() -> None:
    tokens = {"current_context_tokens": 64_000, "displayed_context_limit": 128_000}
    found = statusline(told({**tokens, "context_window_size": 200_000, "current_usage": USAGE}))
    assert (found.context, found.window, found.compactions) == (64_000, 128_000, None)


@pytest.mark.parametrize("value", [0, -1, True, "9", None, float("nan")])
def test_what_is_no_size_is_none(value: object) -> None:
    found = statusline(told({"context_window_size": value, "current_usage": {}}))
    assert (found.context, found.window, found.compacts_at) == (None, None, None)


def test_a_size_has_a_limit_and_no_fraction() -> None:
    tokens = {"context_window_size": 1e300, "current_usage": {"input_tokens": 7.9}}
    found = statusline(told(tokens))
    assert (found.context, found.window) == (7, 10**12)


def test_of_several_figures_those_that_are_sizes_are_added() -> None:
    usage = {**USAGE, "cache_read_input_tokens": None}
    assert statusline(told({"current_usage": usage})).context == 903
    assert statusline(told({"current_usage": {"input_tokens": 0}})).context == 0


def test_compactions_of_claude_code_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"{}\n" + BOUNDARY + b"{}\n" + BOUNDARY)
    assert statusline(told({}, transcript_path=str(path))).compactions == 2
    assert statusline(told({}, transcript_path=str(tmp_path / "gone"))).compactions is None
    assert statusline(told({})).compactions is None
    assert statusline({}).compactions is None
