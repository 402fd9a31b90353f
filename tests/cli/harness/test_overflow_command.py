"""``compactctl harness overflow``: text, file or standard input, and an exit code to branch on."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask

LONG = "prompt is too long: 205000 tokens > 200000 maximum"


def test_a_text_is_judged(ask: Ask) -> None:
    outcome = ask("harness", "overflow", LONG)
    assert (outcome.code, outcome.err) == (0, "")
    assert "anthropic" in outcome.out
    assert "5,000 tokens" in outcome.out
    assert "will fail again" in outcome.out


def test_another_error_is_1(ask: Ask) -> None:
    outcome = ask("harness", "overflow", "429 rate limit exceeded")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.startswith("no overflow")
    assert "can succeed later" in outcome.out


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("messages: text content blocks must be non-empty", "compactctl rescue"),
        ("Range of max_tokens should be [1, 8192]", "lower max_tokens"),
    ],
)
def test_what_never_succeeds_is_not_tried_again(ask: Ask, text: str, note: str) -> None:
    outcome = ask("harness", "overflow", text)
    assert (outcome.code, outcome.err) == (1, "")
    assert "will fail again" in outcome.out
    assert note in outcome.out


def test_a_file_and_standard_input_are_read(ask: Ask, tmp_path: Path) -> None:
    body = json.dumps({"error": {"message": LONG}})
    path = tmp_path / "error.json"
    path.write_text(body)
    shown = ask("harness", "overflow", LONG).out
    assert ask("harness", "overflow", path).out == shown
    assert ask("harness", "overflow", "-", stdin=body.encode()).out == shown


def test_the_document(ask: Ask) -> None:
    assert ask("harness", "overflow", LONG, "--json").json == {
        "schema": "compactctl.overflow/1",
        "overflow": True,
        "kind": "overflow",
        "provider": "anthropic",
        "actual": 205_000,
        "limit": 200_000,
        "gap": 5_000,
        "retryable": False,
        "pattern": "prompt is too long",
        "note": "",
        "rule": None,
        "place": None,
        "limitBytes": None,
    }


@pytest.mark.parametrize(
    ("error", "facts"),
    [
        (
            "messages.5.content.2: Invalid `signature` in `thinking` block",
            ["refused", "thinking-signature", {"message": 5, "block": 2}, None],
        ),
        (
            "No tool output found for function call call_7.",
            ["refused", "call-without-result", {"callId": "call_7"}, None],
        ),
        ("Request too large (max 32MB).", ["overflow", "request-bytes", None, 32 << 20]),
        ("413 Payload Too Large", ["overflow", "request-bytes", None, None]),
        ("429 rate limit exceeded", ["rate", None, None, None]),
        ("Range of max_tokens should be [1, 8192]", ["refused", None, None, None]),
        ("connection reset by peer", [None, None, None, None]),
    ],
)
def test_the_document_says_what_the_error_means(error: str, facts: list[object], ask: Ask) -> None:
    document = ask("harness", "overflow", error, "--json").json
    assert [document[name] for name in ("kind", "rule", "place", "limitBytes")] == facts
    assert document["overflow"] is (facts[0] == "overflow")


def test_nothing_to_judge_is_3(ask: Ask) -> None:
    outcome = ask("harness", "overflow", "  \n")
    assert (outcome.code, outcome.out) == (3, "")
    assert "empty error; pass its text" in outcome.err


def test_a_folder_is_3(ask: Ask, tmp_path: Path) -> None:
    assert ask("harness", "overflow", tmp_path).code == 3


@pytest.mark.parametrize("text", ["x" * 10_000, "a\0b", "../" * 2_000 + "prompt is too long"])
def test_a_text_that_can_be_no_path_is_a_text(ask: Ask, text: str) -> None:
    assert ask("harness", "overflow", text).code == (0 if "too long" in text else 1)
