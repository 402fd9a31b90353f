"""``statusline``: a line from what a client tells, and never a failure."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# As Claude Code 2.1.197 and Copilot CLI 1.0.102 write it, without what is not read.
CLAUDE_CODE = {
    "session_id": "6f0c",
    "transcript_path": "",
    "version": "2.1.197",
    "context_window": {
        "total_input_tokens": 131_982,
        "total_output_tokens": 5,
        "context_window_size": 200_000,
        "current_usage": {
            "input_tokens": 3,
            "output_tokens": 5,
            "cache_creation_input_tokens": 979,
            "cache_read_input_tokens": 131_000,
        },
        "used_percentage": 66,
    },
}
COPILOT_CLI = {
    "session_id": "6f0c",
    "session_name": "tides",
    "context_window": {
        "total_input_tokens": 990_000,
        "context_window_size": 200_000,
        "displayed_context_limit": 128_000,
        "current_context_tokens": 64_000,
    },
}
BOUNDARY = b'{"type":"system","subtype":"compact_boundary","uuid":"b"}\n'


def line(ask: Ask, told: Any) -> str:
    outcome = ask("client", "statusline", stdin=json.dumps(told).encode())
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    return outcome.out.removesuffix("\n")


def test_it_tells_how_full_the_session_is_and_where_it_will_be_compacted(ask: Ask) -> None:
    assert line(ask, CLAUDE_CODE) == "context 132k of 200k (66%) · compacts at 167k"
    assert line(ask, COPILOT_CLI) == "context 64k of 128k (50%) · compacts at 102k"


def test_it_tells_how_often_claude_code_has_compacted(ask: Ask, sample: Sample) -> None:
    session = sample("claude-code-session")
    told = {**CLAUDE_CODE, "transcript_path": str(session)}
    before = session.read_bytes().count(b'"subtype":"compact_boundary"')
    with session.open("ab") as stream:
        stream.write(BOUNDARY * 2)
    assert line(ask, told).endswith(f" · compacted {before + 2} times")


def test_before_the_first_answer_there_is_no_context(ask: Ask) -> None:
    early = {"context_window_size": 200_000, "current_usage": None, "used_percentage": None}
    assert line(ask, {**CLAUDE_CODE, "context_window": early}) == (
        "context: unknown · compacts at 167k"
    )
    document = ask("client", "statusline", "--json", stdin=b"{}").json
    assert document == {
        "schema": "compactctl.statusline/1",
        "context": None,
        "window": None,
        "compactsAt": None,
        "compactions": None,
    }


@pytest.mark.parametrize(
    "arguments", [("--no-such-option",), ("extra",), ("--json=yes",)], ids=" ".join
)
def test_wrong_options_do_not_fail_the_client(ask: Ask, arguments: tuple[str, ...]) -> None:
    outcome = ask("client", "statusline", *arguments)
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("compactctl: ")
    assert outcome.err.count("\n") == 1


def test_settings_that_are_broken_do_not_fail_the_client(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compactctl.toml").write_text("= broken")
    monkeypatch.chdir(tmp_path)
    assert line(ask, CLAUDE_CODE).startswith("context 132k")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = st.sampled_from([*CLAUDE_CODE, *COPILOT_CLI["context_window"], "current_usage"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    told=st.binary()
    | VALUES.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES)).map(
        lambda value: json.dumps(value).encode()
    )
)
def test_whatever_a_client_tells_there_is_one_line(ask: Ask, told: bytes) -> None:
    outcome = ask("client", "statusline", stdin=told)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    assert outcome.out.removesuffix("\n").isprintable()
