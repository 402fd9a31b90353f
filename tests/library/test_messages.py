"""A list of messages is compacted as the command compacts the same messages in a file."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from formats.jsonl import write_lines
from hypothesis import given
from hypothesis import strategies as st
from library.loops import loop

import compactctl
from compactctl.__main__ import run
from compactctl.errors import DoesNotFitError, NotUnderstoodError, UsageError

SAMPLES = ROOT / "sample_transcripts"
LONG = loop(150)


def compacted_file(folder: Path, messages: list[dict[str, Any]], *options: str) -> list[Any]:
    path, output = folder / "run.jsonl", folder / "out.jsonl"
    write_lines(path, *messages)
    assert run(["compact", str(path), "-o", str(output), "--no-tags", *options]) == 0
    return [json.loads(line) for line in output.read_text().splitlines()]


@pytest.mark.parametrize(
    ("messages", "options", "choices"),
    [
        (loop(200), ("--if-needed", "--window", "50k"), {"window": "50k"}),
        (LONG, ("--target", "10k"), {"target": 10_000}),
        (LONG, ("--keep", "30%"), {"keep": 0.3}),
        (LONG, ("--stages", "prune,dedup"), {"stages": ["prune", "dedup"]}),
        (
            LONG,
            ("--stages", "prune", "--prune-protect-tokens", "5000", "--prune-min-savings", "1"),
            {
                "stages": ["prune"],
                "stage_options": {"prune": {"protect_tokens": 5_000, "min_savings": 1}},
            },
        ),
        (loop(450), ("--profile", "agent-code"), {"profile": "agent-code"}),
        (
            LONG,
            ("--target", "10k", "--pin", "part_3_step_3"),
            {"target": "10k", "pins": ["part_3_step_3"]},
        ),
    ],
)
def test_as_the_command_does(
    tmp_path: Path,
    messages: list[dict[str, Any]],
    options: tuple[str, ...],
    choices: dict[str, Any],
) -> None:
    expected = compacted_file(tmp_path, messages, "--model", "gpt-4o", *options)
    assert compactctl.compact_messages(messages, model="gpt-4o", **choices) == expected
    assert len(expected) < len(messages) or expected != messages


@pytest.mark.parametrize("name", ["openai-chat", "anthropic-messages"])
def test_bundled_messages(tmp_path: Path, name: str) -> None:
    messages = [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text().splitlines()]
    expected = compacted_file(tmp_path, messages, "--keep", "20%", "--format", name)
    assert compactctl.compact_messages(messages, format=name, keep="20%") == expected


def test_what_stays_is_the_same_object_and_nothing_given_is_changed() -> None:
    before = json.dumps(LONG)
    left = compactctl.compact_messages(LONG, keep=0.2)
    own = {id(message) for message in LONG}
    assert left[0] is LONG[0]
    assert left[-1] is LONG[-1]
    assert len({id(message) for message in left}) == len(left)
    assert sum(id(message) in own for message in left) > 5
    assert json.dumps(LONG) == before


def test_no_file_is_read_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compactctl.compact_messages(LONG, keep=0.2)
    assert not list(tmp_path.iterdir())


def test_within_the_target_nothing_changes() -> None:
    few = LONG[:9]
    assert all(
        a is b for a, b in zip(compactctl.compact_messages(few, target=100_000), few, strict=True)
    )
    assert compactctl.compact_messages([]) == []


def test_without_choices_messages_stay_until_they_are_due() -> None:
    messages = loop(200)
    left = compactctl.compact_messages(messages, model="gpt-4o")
    assert len(left) == len(messages)
    assert all(a is b for a, b in zip(left, messages, strict=True))
    assert compactctl.compact_messages(messages, model="gpt-4o", window="50k") != messages


def test_several_threads_at_once() -> None:
    lists = [loop(20 + 10 * number) for number in range(8)]

    def small(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return compactctl.compact_messages(messages, keep=0.3, model="gpt-4o")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(small, lists)) == [small(messages) for messages in lists]


@given(st.integers(2, 30), st.sampled_from([0.1, 0.3, 0.6]))
def test_calls_and_results_stay_together(rounds: int, keep: float) -> None:
    left = compactctl.compact_messages(loop(rounds), keep=keep)
    called = [call["id"] for message in left for call in message.get("tool_calls") or ()]
    answered = [message["tool_call_id"] for message in left if message["role"] == "tool"]
    assert called == answered


def test_a_summarizer_of_the_caller_s_own() -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "<summary>The user wants the build mended. " + "Parts were read in turn. " * 20

    left = compactctl.compact_messages(LONG, target=9_000, stages=["summarize"], summarizer=ask)
    assert len(asked) == 1
    assert len(left) < len(LONG)


def test_the_one_error_of_a_summarizer_reaches_the_caller() -> None:
    def ask(_: str) -> str:
        raise ConnectionError("no route")

    with pytest.raises(ConnectionError, match="no route"):
        compactctl.compact_messages(LONG, target=9_000, stages=["summarize"], summarizer=ask)


@pytest.mark.parametrize(
    ("run_it", "error", "says"),
    [
        (lambda: compactctl.compact_messages([{"a": object()}]), UsageError, r"messages\[0\]"),
        (lambda: compactctl.compact_messages([{"a": float("nan")}]), UsageError, "not JSON"),
        (
            lambda: compactctl.compact_messages(LONG, format="no-such"),
            UsageError,
            "no-such",
        ),
        (lambda: compactctl.compact_messages(LONG, target="sixty"), UsageError, "sixty"),
        (lambda: compactctl.compact_messages(LONG, stages=["prone"]), UsageError, "prune"),
        (lambda: compactctl.compact_messages(LONG, profile="none-such"), UsageError, "none-such"),
        (
            lambda: compactctl.compact_messages(LONG, stage_options={"prune": {"a": 1}}),
            UsageError,
            "prune",
        ),
        (
            lambda: compactctl.compact_messages(
                LONG, summarizer=lambda prompt: prompt, stages=["dedup"]
            ),
            UsageError,
            "summarize",
        ),
    ],
)
def test_what_means_nothing_is_told(
    run_it: Callable[[], Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        run_it()


USER = {"role": "user", "content": "Go on."}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "done"}
ANTHROPIC_RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "done"}


@pytest.mark.parametrize("place", [0, 1, 5])
@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"foo": 1}, NotUnderstoodError, "is not a message of openai-chat"),
        ({}, NotUnderstoodError, "is not a message of openai-chat"),
        ({"type": "human", "data": {"content": "hi"}}, NotUnderstoodError, "openai-chat"),
        ({"role": "user", "content": {"text": "hi"}}, NotUnderstoodError, "content of type dict"),
        ({"role": "user", "content": 5}, NotUnderstoodError, "content of type int"),
        ({"role": "robot", "content": "hi"}, NotUnderstoodError, "openai-chat"),
        (RESULT, NotUnderstoodError, r"is a tool result without its call before it \(c1\)"),
        ("hi", UsageError, "is str, not a dict"),
        (None, UsageError, "is NoneType, not a dict"),
        (["role", "user"], UsageError, "is list, not a dict"),
        ({"role": "user", "content": {1, 2}}, UsageError, "is not JSON"),
    ],
)
def test_the_first_wrong_message_is_named(
    wrong: Any, error: type[Exception], says: str, place: int
) -> None:
    messages = [*[USER] * place, wrong, USER, wrong]
    with pytest.raises(error, match=rf"^messages\[{place}\]: .*{says}"):
        compactctl.compact_messages(messages)


@pytest.mark.parametrize("wrong", [None, "hi", b"hi", {"role": "user"}, 3, iter([USER])])
def test_what_is_no_list_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"^messages: is .*, not a list; pass a list of dicts$"):
        compactctl.compact_messages(wrong)


def test_the_result_of_a_call_in_another_format() -> None:
    messages = [{"role": "user", "content": [ANTHROPIC_RESULT]}]
    with pytest.raises(
        NotUnderstoodError, match=r"messages\[0\]: is a tool result without its call"
    ):
        compactctl.compact_messages(messages, format="anthropic-messages")
    assert compactctl.compact_messages([USER, RESULT], stages=["repair"])[0] is USER


def test_a_call_may_wait_for_its_result() -> None:
    messages = loop(3)[:-1]
    assert compactctl.compact_messages(messages) == messages


def test_a_call_needs_no_content() -> None:
    messages = [
        {name: value for name, value in message.items() if value is not None} for message in loop(3)
    ]
    assert compactctl.compact_messages(messages) == messages


CALLS: dict[str, Callable[..., Any]] = {
    "compact_messages": lambda **choices: compactctl.compact_messages([USER], **choices),
    "compact_batch": lambda **choices: compactctl.compact_batch(None, **choices),
    "compact": lambda **choices: compactctl.compact("none.jsonl", **choices),
    "stats": lambda **choices: compactctl.stats("none.jsonl", **choices),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("keyword", "hint"), [("if_needed", ""), ("trigger", ""), ("modle", r"; did you mean model\?")]
)
def test_an_unknown_keyword_is_refused(name: str, keyword: str, hint: str) -> None:
    says = rf"^{name}\(\) got an unexpected keyword argument '{keyword}'{hint}"
    with pytest.raises(TypeError, match=says):
        CALLS[name](**{keyword: "nonsense"})


def test_a_target_out_of_reach_is_told_and_raises_where_it_is_required() -> None:
    messages = [{"role": "system", "content": "Never touch prod.yaml. " * 900}, USER]
    left = compactctl.compact_messages(messages, target="1k")
    assert (left, left.fits, left.limit) == (messages, False, 1_000)
    assert left.tokens > 1_000
    with pytest.raises(DoesNotFitError, match=rf"{left.tokens:,} tokens .* limit of 1,000;"):
        compactctl.compact_messages(messages, target="1k", require_fit=True)
    assert compactctl.compact_messages(LONG, target=9_000, require_fit=True).fits
    assert compactctl.compact_messages([], require_fit=True).fits


def test_a_file_has_to_fit_where_it_is_required(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({"role": "system", "content": "Never. " * 3_000}) + "\n")
    with pytest.raises(DoesNotFitError):
        compactctl.compact(path, target="1k", require_fit=True)
    assert list(tmp_path.iterdir()) == [path]
    assert not compactctl.compact(path, target="1k", dry_run=True).fits


def test_a_file_of_no_format() -> None:
    with pytest.raises(NotUnderstoodError):
        compactctl.load(__file__)


@pytest.mark.parametrize("stage", ["distill", "summarize", "recursive", "chunk"])
@pytest.mark.parametrize("is_joined", [False, True])
def test_no_rule_is_lost_in_a_loop_that_keeps_no_archive(stage: str, *, is_joined: bool) -> None:
    messages = loop(12)
    rules = ["Never touch the tests."]
    for number in range(4):
        rules.append(f"Always write part {number} to out_{number}.txt.")
        summary = messages[1]["content"]
        if is_joined and isinstance(summary, str) and "without a model" in summary:
            messages[1] = {**messages[1], "content": f"{summary}\n\n{rules[-1]}"}
        else:
            messages.append({"role": "user", "content": rules[-1]})
        messages += [{**message, **_renamed(message, number)} for message in loop(12)[2:]]
        messages = list(compactctl.compact_messages(messages, target=1_500, stages=(stage,)))
        text = json.dumps(messages)
        assert [rule for rule in rules if rule not in text] == []


def _renamed(message: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the fields of a call or its result with an id of its round."""
    if message["role"] == "tool":
        return {"tool_call_id": f"{message['tool_call_id']}-{number}"}
    calls = message["tool_calls"]
    return {"tool_calls": [{**call, "id": f"{call['id']}-{number}"} for call in calls]}
