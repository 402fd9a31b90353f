"""The figures of agent loops, on a bundled session."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmarks.loop import ANTHROPIC, FORMATS, OPENAI, Chat, read_steps
from benchmarks.loop_figures import RowFile, find_systems, replay_missing
from benchmarks.loop_replay import (
    Reader,
    Row,
    Session,
    Setting,
    StandInModel,
    System,
    find_fault,
    read_session,
    replay,
)
from benchmarks.loop_systems import ClearToolUses, Everything, Newest, find_compactors
from benchmarks.loop_tables import COLUMNS, compare_at_one_size, interpolate, loop_tables, price
from conftest import ROOT

from compactctl import compact_messages
from compactctl.records import replace

SESSION = ROOT / "sample_transcripts" / "codex-session.jsonl"
WINDOW = 24_000
CALL: Chat = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "function": {"name": "ls", "arguments": "{}"}}],
}
RESULT: Chat = {"role": "tool", "tool_call_id": "a", "content": "x.py"}
PROMPT: Chat = {"role": "user", "content": "List the files."}


class Loop:
    """A compactor without state."""

    def __init__(self, *, window: int, trigger: float, target: float, **choices: Any) -> None:
        del trigger
        self._choices = {**choices, "target": int(target * window)}

    def fit(self, messages: Sequence[Chat]) -> list[Chat]:
        return compact_messages(messages, **self._choices)

    def after(self, usage: dict[str, int]) -> None:
        assert usage["prompt_tokens"] > 0


def read(format: str, reader: Reader) -> Session:
    return read_session(SESSION, format, reader, 10 * WINDOW)


def row_of(kind: type[System], format: str = OPENAI) -> Row:
    reader = Reader()
    return replay(read(format, reader), Setting(format=format, window=WINDOW), kind, reader)


def test_a_whole_session_has_what_its_client_compacted() -> None:
    steps = list(read_steps(SESSION))
    whole = list(read_steps(SESSION, whole=True))
    assert len(whole) > len(steps)


def test_a_session_is_read_as_far_as_asked() -> None:
    reader = Reader()
    session = read(OPENAI, reader)
    beginning = read_session(SESSION, OPENAI, reader, WINDOW)
    assert beginning.requests == session.requests[: len(beginning.requests)]
    assert WINDOW < beginning.tokens < session.tokens


def test_the_arguments_of_functions_are_objects() -> None:
    texts = [
        call["function"]["arguments"]
        for request in read(OPENAI, Reader()).requests
        for call in request.answer.get("tool_calls", ())
    ]
    # A patch is the input of a custom tool, which has no arguments.
    assert any("*** Begin Patch" in text for text in texts)
    assert all(isinstance(json.loads(text), dict) for text in texts)


@pytest.mark.parametrize("format", FORMATS)
def test_everything_holds_all_and_is_cached(format: str) -> None:
    row = row_of(Everything, format)
    assert (row.cuts, row.invalid, row.depth) == (0, {}, 0)
    assert (row.asks, row.far_held, row.full > 0, row.over > 0) == (1, row.far, True, True)
    assert row.cached > row.tokens / 2


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", [Newest, ClearToolUses])
def test_a_policy_sends_less_in_valid_requests(kind: type[System], format: str) -> None:
    row = row_of(kind, format)
    everything = row_of(Everything, format)
    assert (row.invalid, row.error) == ({}, "")
    assert row.cuts > 0
    assert row.over < everything.over
    assert row.tokens < everything.tokens
    assert row.far_held < everything.far_held


def test_a_compactor_is_given_the_history_or_its_own_result() -> None:
    whole, fed_back = map(row_of, find_compactors(f"{__name__}:Loop"))
    assert whole.system == f"{__name__}:Loop"
    assert fed_back.system == f"{__name__}:Loop, fed back"
    for row in (whole, fed_back):
        assert (row.invalid, row.error) == ({}, "")
        assert row.cuts > 0


def test_an_exception_ends_the_replay_and_is_named() -> None:
    class Broken(Newest):
        name = "broken"

        def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
            if len(history) > 10:
                raise ValueError("no room")
            return super().fit(history, new)

    row = row_of(Broken)
    assert row.error == "ValueError: no room"
    assert 0 < row.requests < row_of(Newest).requests


def test_a_summary_of_a_summary_is_of_the_next_generation() -> None:
    model = StandInModel(Reader())
    again = model.summarize(f"Before: {model.summarize('It began.')}")
    assert again == "⟦generation 2⟧ Before:  It began."
    assert model.read > 0
    assert model.written > 0


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([PROMPT, CALL, RESULT], ""),
        ([PROMPT, CALL], "call without result"),
        ([PROMPT, CALL, PROMPT, RESULT], "call without result"),
        ([PROMPT, RESULT], "result without call"),
        ([PROMPT, {"role": "assistant", "content": " "}], "empty message"),
        ([{"role": "system", "content": "Be brief."}], "nothing from the user"),
    ],
)
def test_what_a_provider_refuses_is_a_fault(messages: Sequence[Chat], fault: str) -> None:
    assert find_fault(messages, OPENAI) == fault


def test_a_request_to_anthropic_begins_with_the_user() -> None:
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    assert find_fault([answer, PROMPT], ANTHROPIC) == "does not begin with the user"
    assert find_fault([PROMPT, answer], ANTHROPIC) == ""


def test_what_is_not_cached_costs_more() -> None:
    row = row_of(Everything)
    uncached = replace(row, cached=0)
    assert price([uncached]) == pytest.approx(3.75e-6 * row.tokens / row.requests)
    assert price([row]) < price([uncached]) < price([replace(uncached, summaries=1_000)])


def test_a_share_is_interpolated_between_sizes() -> None:
    points = [(100.0, 0.2), (300.0, 0.6)]
    assert interpolate(points, 200) == pytest.approx(0.4)
    assert interpolate(points, 305) == 0.6
    assert interpolate(points, 400) is None


def test_systems_are_compared_at_one_size() -> None:
    row = row_of(Newest)
    ours = {row.session: replace(row, size=200.0, far=10, far_held=7)}
    theirs = [
        replace(row, size=100.0, far=10, far_held=2),
        replace(row, size=300.0, far=10, far_held=6),
    ]
    assert compare_at_one_size(theirs, ours) == "40.0 +30.0"
    assert compare_at_one_size(theirs, {**ours, "other": ours[row.session]}) == "40.0 +30.0 (1)"
    assert compare_at_one_size(theirs[:1], ours) == ""


def test_a_system_says_how_many_sessions_it_was_replayed_in() -> None:
    rows = [row_of(Everything), row_of(Newest)]
    rows += [replace(rows[0], session="other"), replace(rows[1], session="other", error="no room")]
    tables = loop_tables(rows, 0.4)
    assert "| everything |" in tables
    assert "| newest messages (in 1 sessions) |" in tables


def test_an_interrupted_run_continues(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    settings = [Setting(format=OPENAI, window=WINDOW, target=target) for target in (0.4, 0.2, 0.6)]
    kinds = (Everything, Newest)
    file = RowFile([rows])
    for row in replay_missing(SESSION, settings, kinds, file, (1, 3)):
        file.add(row)
    again = RowFile([rows])

    assert again.rows == file.rows
    assert [row.system for row in again.rows] == ["everything", *["newest messages"] * 3]
    assert list(replay_missing(SESSION, settings, kinds, again, (1, 3))) == []
    assert list(replay_missing(SESSION, settings, kinds, RowFile([]), (9, 10))) == []
    tables = loop_tables(again.rows, 0.4, "everything")
    assert all(f"**{name}**" in tables for name in COLUMNS)
    assert [line.split(" | ")[0] for line in tables.splitlines() if line.startswith("| ")] == [
        "| System", "| ---", "| everything", "| newest messages",
    ]  # fmt: skip


def test_what_is_not_installed_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    names = [kind.name for kind in find_systems(["nowhere:Compactor"], ["n", "clear"], OPENAI)]
    assert names == ["newest messages", "clear_tool_uses"]
    assert "skipped: nowhere:Compactor: No module named 'nowhere'" in capsys.readouterr().out
