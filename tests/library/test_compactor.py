"""A loop's messages stay within the window, valid, and the same between two cuts."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from threading import Barrier, Thread
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library.loops import loop
from library.strict_server import unpaired

from compactctl import Compactor
from compactctl.__main__ import run
from compactctl.errors import NotUnderstoodError, UsageError
from compactctl.library.message_list import CompactedMessages, CutResult

Chat = dict[str, Any]
Change = Callable[[list[Chat], int], list[Chat]]
LONG = loop(150, files=150)
WINDOW = 12_000
OPENAI, ANTHROPIC = "openai-chat", "anthropic-messages"


class ApiError(Exception):
    """An error as an SDK raises it."""

    def __init__(self, text: str, status_code: int = 400) -> None:
        super().__init__(text)
        self.status_code = status_code


def too_long(limit: int, sent: int) -> ApiError:
    return ApiError(
        f"This model's maximum context length is {limit} tokens. However, your messages resulted "
        f"in {sent} tokens."
    )


def steps(messages: Sequence[Chat]) -> Iterator[list[Chat]]:
    """Yield the history before each request."""
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            yield list(messages[:index])
    yield list(messages)


def compactor(**choices: Any) -> Compactor:
    return Compactor(**{"model": "gpt-4.1", "window": WINDOW, **choices})


def cut_once(**choices: Any) -> tuple[Compactor, list[Chat], CompactedMessages]:
    """Return a compactor after its first cut, with the history and the result."""
    made = compactor(**choices)
    for history in steps(LONG):
        result = made.fit(history)
        if result.cut is not None:
            return made, history, result
    raise AssertionError("never cut")


WORDS = st.text("abcdefg ./_-0123456789", min_size=1, max_size=30)


@st.composite
def conversations(draw: st.DrawFn) -> list[Chat]:
    """Draw the messages of a loop with one to three calls in a step."""
    system = [{"role": "system", "content": draw(WORDS)}] if draw(st.booleans()) else []
    messages: list[Chat] = [*system, {"role": "user", "content": f"please {draw(WORDS)}"}]
    for number in range(draw(st.integers(4, 16))):
        kind = draw(st.sampled_from(("calls", "calls", "calls", "talk")))
        if kind == "talk":
            messages.append({"role": "assistant", "content": f"done {draw(WORDS)}"})
            messages.append({"role": "user", "content": f"and {draw(WORDS)}"})
            continue
        ids = [f"call-{number}-{place}" for place in range(draw(st.integers(1, 3)))]
        calls = [
            {
                "id": name,
                "type": "function",
                "function": {"name": "read", "arguments": json.dumps({"path": draw(WORDS)})},
            }
            for name in ids
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for name in ids:
            line = draw(WORDS)
            text = "\n".join(f"{line} {n}" for n in range(draw(st.integers(1, 60))))
            messages.append({"role": "tool", "tool_call_id": name, "content": text})
    return messages


@given(messages=conversations(), window=st.integers(400, 2_000))
def test_any_loop(messages: list[Chat], window: int) -> None:
    whole, fed = compactor(window=window), compactor(window=window)
    sent: list[Chat] = []
    n_before = 0
    for history in steps(messages):
        before = sent
        result = whole.fit(history)
        assert not unpaired(result)
        assert any(message["role"] == "user" for message in result)
        assert whole.originals() == history
        if result.cut is None:
            assert result[: len(before)] == before
            assert all(new is old for new, old in zip(result, before, strict=False))
        else:
            assert result.cut.after < result.cut.before
        # The last result with what came since gives the same.
        back = fed.fit([*before, *history[n_before:]] if n_before else history)
        assert back == result
        assert (back.tokens, back.cut) == (result.tokens, result.cut)
        groups = whole.groups()
        assert len(groups) == len(result)
        indices = [group for group in groups if group is not None]
        assert indices == sorted(set(indices))
        kept = [(m, g) for m, g in zip(result, groups, strict=True) if g is not None]
        assert all(message["role"] == history[group]["role"] for message, group in kept)
        sent, n_before = list(result), len(history)


@given(messages=conversations(), window=st.integers(400, 1_500), data=st.data())
def test_a_state_goes_on_as_if_nothing_had_happened(
    messages: list[Chat], window: int, data: st.DataObject
) -> None:
    histories = list(steps(messages))
    stop = data.draw(st.integers(0, len(histories) - 1))
    first = compactor(window=window)
    for history in histories[: stop + 1]:
        first.after({"prompt_tokens": first.fit(history).tokens + 7})
    if data.draw(st.booleans()):
        with suppress(ApiError):
            first.recover(too_long(window, window + 10))
    state = json.loads(json.dumps(first.to_dict()))
    second = Compactor.from_dict(state)
    for history in histories[stop:]:
        assert second.fit(history) == first.fit(history)
        assert second.groups() == first.groups()


@given(messages=conversations(), window=st.integers(400, 1_500), data=st.data())
def test_whatever_a_caller_changes_is_what_counts(
    messages: list[Chat], window: int, data: st.DataObject
) -> None:
    made = compactor(window=window)
    histories = list(steps(messages))
    now: list[Chat] = []
    for history in histories:
        now = [*now, *history[len(now) :]]
        made.fit(now)
    index = data.draw(st.integers(0, len(now) - 1))
    changed = now[index]
    if data.draw(st.booleans()):
        changed = now[index] = deepcopy(changed)
    if "tool_calls" in changed:
        changed["tool_calls"][0]["function"]["arguments"] = '{"path": "elsewhere"}'
    else:
        changed["content"] = "something else"
    result = made.fit(now)
    assert made.originals() == now
    for message, group in zip(result, made.groups(), strict=True):
        if group is not None and message == now[group]:
            assert message is now[group]
    assert "something else" not in str(changed) or "something else" in str(made.originals())


@pytest.mark.parametrize("nested", [False, True])
def test_a_message_changed_in_place_counts_as_it_is_now(*, nested: bool) -> None:
    content: Any = [{"type": "text", "text": "go"}] if nested else "go"
    messages: list[Chat] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": content},
    ]
    made = compactor()
    small = made.fit(messages).tokens
    if nested:
        content[0]["text"] = "word " * 2_000
    else:
        messages[1]["content"] = "word " * 2_000
    assert made.fit(messages).tokens > small + 1_900


def test_a_system_prompt_that_changes_each_time_does_not_undo_the_cut() -> None:
    made, history, result = cut_once()
    history[0] = {"role": "system", "content": "You mend builds. It is noon."}
    again = made.fit(history)
    assert again.cut is None
    assert again[0] is history[0]
    assert again[1:] == result[1:]


def test_a_change_of_what_was_cut_away_undoes_the_cut() -> None:
    made, history, _ = cut_once()
    gone = next(n for n in range(3, len(history), 2) if n not in made.groups())
    history[gone] = {**history[gone], "content": "entirely different"}
    made.fit(history)
    assert made.originals() == history
    assert "entirely different" in str(made.rewind())


def marked(history: list[Chat], number: int) -> list[Chat]:
    """Move a mark for the provider's cache to the newest two messages, in copies."""
    del number
    copies = deepcopy(history)
    for message in copies[-2:]:
        message["cache_control"] = {"type": "ephemeral"}
    return copies


def marked_in_place(history: list[Chat], number: int) -> list[Chat]:
    del number
    for message in history:
        message.pop("cache_control", None)
    history[-1]["cache_control"] = {"type": "ephemeral"}
    return history


def reminded(history: list[Chat], number: int) -> list[Chat]:
    return [*history, {"role": "user", "content": f"<reminder>step {number}</reminder>"}]


def rebuilt(history: list[Chat], number: int) -> list[Chat]:
    """Build the system prompt and the first request anew, with what changes each time."""
    first = [{**message, "content": f"{message['content']} {number}"} for message in history[:2]]
    return [*first, *history[2:]]


@pytest.mark.parametrize("change", [marked, marked_in_place, reminded, rebuilt])
def test_what_a_harness_does_to_each_request_undoes_no_cut(change: Change) -> None:
    plain, changed = compactor(), compactor()
    messages = deepcopy(LONG)
    histories = list(enumerate(steps(messages)))
    cuts = sum(plain.fit(deepcopy(history)).cut is not None for _, history in histories)
    results = [changed.fit(change(history, number)) for number, history in histories]
    assert sum(result.cut is not None for result in results) == cuts
    assert not any(unpaired(result) for result in results)


@pytest.mark.parametrize(
    ("stages", "options"),
    [
        (["prune"], {"prune": {"protect_tokens": 1_000, "min_savings": 0}}),
        (["microcompact"], {}),
        (["shorten"], {}),
        (["strip"], {}),
        (["dedup", "distill"], {"distill": {"form": "in-place"}}),
        (["dedup", "distill"], {"distill": {"form": "digest"}}),
    ],
)
def test_what_is_fed_back_never_replaces_an_original(
    stages: list[str], options: dict[str, Any]
) -> None:
    made = compactor(stages=stages, stage_options=options)
    sent: list[Chat] = []
    n_before = 0
    for history in steps(LONG[:120]):
        sent = made.fit([*sent, *history[n_before:]])
        n_before = len(history)
        assert made.originals() == history


def test_the_newest_messages_can_be_taken_back_from_a_result() -> None:
    made, history, result = cut_once()
    shorter = made.fit(list(result)[:-2])
    assert made.originals() == history[:-2]
    assert shorter == result[:-2]


def test_a_call_that_is_gone_has_no_result_any_more() -> None:
    made = compactor()
    made.fit(LONG[:6])
    with pytest.raises(NotUnderstoodError, match="without its call"):
        made.fit([*LONG[:2], LONG[3]])
    assert made.originals() == LONG[:6]


def test_text_that_was_not_read_is_forgotten_with_its_message() -> None:
    unread = {"role": "user", "content": [{"type": "file", "file": {"file_id": "f-1"}}]}
    made = compactor()
    assert not made.fit([*LONG[:2], unread]).fits
    assert made.fit([*LONG[:2], {"role": "user", "content": "no file"}]).fits


def test_a_branch_goes_on_from_there() -> None:
    made, history, _ = cut_once()
    branch = [*history[:4], {"role": "user", "content": "the other way"}]
    assert made.fit(branch) == branch
    assert made.originals() == branch


def test_cuts_are_rare() -> None:
    made = compactor()
    cuts = sum(made.fit(history).cut is not None for history in steps(LONG))
    assert 2 < cuts < 9


def test_a_cut_of_many_small_calls_is_not_above_its_target() -> None:
    large = loop(5, files=5)
    for message in large[3::2]:
        message["content"] = "\n".join(f"{message['content']}\nrow {n}" for n in range(12))
    small = loop(200, files=200)[2:]
    for message in small:
        name = message.get("tool_call_id") or message["tool_calls"][0]["id"]
        if message["role"] == "tool":
            message |= {"tool_call_id": f"small-{name}", "content": "ok"}
        else:
            message["tool_calls"][0]["id"] = f"small-{name}"
    made = compactor(window=9_000, target=0.6)
    cuts = [cut for history in steps([*large, *small]) if (cut := made.fit(history).cut)]
    assert cuts
    assert all(cut.after <= 0.6 * 9_000 for cut in cuts)


def test_a_cut_says_what_it_costs() -> None:
    seen: list[CutResult] = []
    _, _, result = cut_once(on_cut=seen.append)
    cut = result.cut
    assert cut is not None
    assert seen == [cut]
    assert cut.before > 0.8 * WINDOW > 0.4 * WINDOW >= cut.after == result.tokens
    assert cut.before - cut.after >= 0.1 * WINDOW
    assert 0 < cut.resent <= cut.after
    # gpt-4.1: a cached token costs a quarter, a write as much as other input.
    saved = cut.before - cut.after
    assert cut.pays_after is not None
    assert cut.pays_after == max(1, -(-cut.resent * 3 // saved))
    assert result.limit == WINDOW
    assert result.fits


def test_a_cut_that_saves_too_little_is_not_made() -> None:
    messages = [{"role": "user", "content": "x y " * 5_000}, *LONG[2:6]]
    made = compactor()
    assert made.fit(messages).cut is None
    assert made.fit(messages) == messages


def test_what_the_provider_reports_is_believed() -> None:
    made = compactor()
    counted = made.fit(LONG[:10]).tokens
    made.after({"prompt_tokens": counted + 4_000, "completion_tokens": 9})
    assert made.fit(LONG[:10]).tokens == counted + 4_000

    parts = {"cache_read_input_tokens": counted, "cache_creation_input_tokens": 90}
    made.after(SimpleNamespace(input_tokens=10, **parts))
    assert made.fit(LONG[:10]).tokens in range(counted, counted + 101)
    made.after(None)
    made.after({"prompt_tokens": "many"})


def test_system_and_tools_count() -> None:
    tools = [{"type": "function", "function": {"name": "read", "description": "word " * 500}}]
    plain = compactor().fit(LONG[:4]).tokens
    assert compactor(tools=tools).fit(LONG[:4]).tokens > plain + 450
    assert compactor(system="word " * 500).fit(LONG[:4]).tokens > plain + 450


def test_recovering_returns_less_each_time_and_learns_the_window() -> None:
    made = compactor(window=100_000)
    sent = made.fit(LONG)
    assert sent == LONG
    error = too_long(9_000, 15_000)
    for _ in range(3):
        less = made.recover(error)
        assert len(json.dumps(less)) < len(json.dumps(sent))
        assert not unpaired(less)
        sent = less
    with pytest.raises(ApiError) as raised:
        made.recover(error)
    assert raised.value is error
    assert made.fit(LONG).limit <= 9_000


def test_only_an_overflow_is_recovered_from() -> None:
    made = compactor()
    made.fit(LONG[:10])
    for error in (ApiError("Rate limit reached for gpt-4.1", 429), ApiError("invalid key", 401)):
        with pytest.raises(ApiError) as raised:
            made.recover(error)
        assert raised.value is error
    with pytest.raises(ApiError):
        compactor().recover(too_long(1_000, 2_000))
    assert len(compactor().recover(too_long(3_000, 9_000), LONG[:40])) < 40


def test_a_limit_of_bytes_is_none_of_tokens() -> None:
    image = {"url": "data:image/png;base64,iVBORw0KGgo" + "A" * 400_000}
    old = {"role": "user", "content": [{"type": "image_url", "image_url": image}]}
    made = compactor(window=100_000)
    later = [{"role": "user", "content": "Now look at the logs."}, *LONG[10:20]]
    sent = made.fit([*LONG[:2], old, *LONG[2:10], *later])
    error = ApiError("Error code: 413 - request_too_large: Request exceeds the maximum size", 413)
    less = made.recover(error)
    assert len(json.dumps(less)) < 0.1 * len(json.dumps(sent))
    assert less.limit == 100_000
    newest = compactor(window=100_000)
    sent = newest.fit([*LONG[:20], old])
    with pytest.raises(ApiError):
        newest.recover(error)
    assert newest.fit([*LONG[:20], old]) == sent


def test_what_an_error_quotes_is_not_the_window() -> None:
    made = compactor(window=100_000)
    made.after({"prompt_tokens": made.fit(LONG[:60]).tokens})
    error = ApiError("invalid value 'This model's maximum context length is 10 tokens'")
    with pytest.raises(ApiError):
        made.recover(error)
    assert made.fit(LONG[:60]).limit == 100_000


def test_a_learned_window_has_room_for_the_answer() -> None:
    made = compactor(window=100_000, max_tokens=4_000)
    made.fit(LONG)
    assert made.recover(too_long(9_000, 15_000)).limit == 5_000


def wrapped(error: Exception) -> Exception:
    outer = RuntimeError("the request failed")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    "error",
    [
        wrapped(too_long(9_000, 15_000)),
        ExceptionGroup("two requests failed", [ValueError("no"), too_long(9_000, 15_000)]),
        type("HTTPStatusError", (Exception,), {})("400 Bad Request"),
    ],
)
def test_an_overflow_is_seen_wherever_an_sdk_keeps_it(error: Exception) -> None:
    if "HTTPStatusError" in type(error).__name__:
        error.response = SimpleNamespace(text=str(too_long(9_000, 15_000)))  # type: ignore[attr-defined]
    made = compactor(window=100_000)
    made.fit(LONG)
    assert made.recover(error).fits


def test_a_summarizer_writes_and_merges() -> None:
    prompts: list[str] = []

    def summarize(prompt: str) -> str:
        prompts.append(prompt)
        conversation = prompt.partition("=== CONVERSATION TO SUMMARIZE ===")[2]
        newest = re.findall(r"part_\d+_step_\d+", conversation)[0]
        return f"<summary>Part {len(prompts)}: the build fails, {newest} was read.</summary>"

    # A summary has to name something that stands in what it replaces.
    messages = json.loads(json.dumps(loop(300, files=300)).replace("part_", "part_1000"))
    made = compactor(summarizer=summarize)
    cuts = [cut for history in steps(messages) if (cut := made.fit(history).cut)]
    assert len(cuts) > 2
    assert [cut.note for cut in cuts] == [""] * len(cuts)
    assert len(prompts) == len(cuts)
    # Later prompts have the earlier summary and not everything that it stands for.
    assert "Part 2: the build fails" in prompts[2]
    assert len(prompts[-1]) < 1.5 * len(prompts[0])


def unreachable(_: str) -> str:
    raise ConnectionError("no route to the model")


@pytest.mark.parametrize(
    ("summarize", "why"),
    [(unreachable, "no route to the model"), (lambda _: None, "NoneType instead of a str")],
)
def test_a_summarizer_that_fails_is_replaced(summarize: Any, why: str) -> None:
    seen: list[CutResult] = []
    _, _, result = cut_once(summarizer=summarize, on_cut=seen.append)
    assert result.fits
    assert why in seen[0].note


def test_the_next_cut_is_made_ahead() -> None:
    made = compactor()
    histories = steps(LONG)
    while not made.prepare():
        made.fit(next(histories))
    began = len(made.originals())
    result = made.fit(next(histories))
    deadline = time.monotonic() + 60
    while result.cut is None and time.monotonic() < deadline:
        # A cut that is due waits for the other process as long as the request fits.
        history = next(histories, None)
        if history is None or made.prepare() is False:
            break
        time.sleep(0.2)
        result = made.fit(history)
    assert result.cut is not None
    assert made.groups()[-1] == len(made.originals()) - 1
    assert len(made.originals()) > began
    assert not unpaired(result)
    direct = compactor()
    assert direct.fit(made.originals()[:began]) is not None


def test_one_call_at_a_time() -> None:
    gate = Barrier(2)

    def wait(_: object) -> None:
        gate.wait(10)
        gate.wait(10)

    made = compactor(on_cut=wait)
    thread = Thread(target=made.fit, args=(LONG,))
    thread.start()
    gate.wait(10)
    with pytest.raises(UsageError, match="another call of this Compactor is running"):
        made.fit(LONG)
    gate.wait(10)
    thread.join()
    assert asyncio.run(made.afit(LONG)) == made.fit(LONG)


@pytest.mark.parametrize(
    ("wrong", "index"),
    [
        ([{"role": "user", "content": "a"}, "text"], 1),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": {1, 2}}], 1),
        ([{"role": "user", "content": "a"}, {"speaker": "x"}], 1),
        ([{"role": "tool", "tool_call_id": "none", "content": "a"}], 0),
    ],
)
def test_a_wrong_message_is_named_and_changes_nothing(wrong: list[Any], index: int) -> None:
    made = compactor()
    made.fit(LONG[:4])
    with pytest.raises((UsageError, NotUnderstoodError), match=rf"messages\[{4 + index}\]"):
        made.fit([*LONG[:4], *wrong])
    assert made.originals() == LONG[:4]
    assert made.fit(LONG[:6]) == LONG[:6]


def test_keywords() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'windw'"):
        Compactor(windw=5)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="each must be smaller than the next"):
        Compactor(window=10_000, target=0.9)
    with pytest.raises(UsageError, match="trigger: 'often'"):
        Compactor(trigger="often")
    with pytest.raises(UsageError, match="version"):
        Compactor.from_dict({"version": 99})


@pytest.mark.parametrize("summarizer", [None, lambda _: "<summary>part_1_step_1</summary>"])
def test_the_archive_is_that_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], summarizer: Any
) -> None:
    path = tmp_path / "run.jsonl"
    made = compactor(archive=path, summarizer=summarizer)
    *_, history = steps(LONG)
    result = [made.fit(history) for history in steps(LONG)][-1]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    pairs = zip(lines, result, strict=True)
    assert all({key: line[key] for key in message} == message for line, message in pairs)
    assert run(["log", str(path)]) == 0
    assert "in effect" in capsys.readouterr().out
    assert run(["view", str(path), "--archived"]) == 0
    assert "part_0_step_0" in capsys.readouterr().out
    assert run(["rewind", str(path)]) == 0
    assert [json.loads(line) for line in path.read_text().splitlines()] == history
    with pytest.raises(UsageError, match="exists; name a new file"):
        compactor(archive=path)
    state = json.loads(json.dumps(made.to_dict()))
    with pytest.raises(UsageError, match="was written to since this state"):
        Compactor.from_dict(state)
    again = Compactor.from_dict(state, archive=tmp_path / "again.jsonl")
    assert again.fit(history).fits
    assert again.originals() == history


def written(path: Path, result: Sequence[Chat]) -> bool:
    """Tell whether a file has the messages of a result, whatever tags it adds."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return len(lines) == len(result) and all(
        {key: line[key] for key in message} == message
        for line, message in zip(lines, result, strict=True)
    )


def test_the_file_follows_what_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    made, history, _ = cut_once(archive=path)
    more = [*history, *LONG[len(history) : len(history) + 4]]
    assert written(path, made.fit(more))
    # Two messages are taken back, and others come instead.
    other = [*more[:-2], {"role": "user", "content": "no, the other way"}]
    assert written(path, made.fit(other))
    # Somebody else writes to the file.
    with path.open("a") as stream:
        stream.write("{}\n")
    with pytest.warns(RuntimeWarning, match="another program wrote to it"):
        made.fit([*other, {"role": "assistant", "content": "as you say"}])
    assert path.read_text().endswith("{}\n")
    assert run(["log", str(path)]) == 0


def test_a_folder_that_is_gone_does_not_end_the_loop(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    made = compactor(archive=folder / "run.jsonl")
    folder.rmdir()
    with pytest.warns(RuntimeWarning, match="the newest messages are missing"):
        made.fit(LONG[:4])
    folder.mkdir()
    assert written(folder / "run.jsonl", made.fit(LONG[:6]))


def test_the_next_cut_imports_nothing_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("open('seen', 'w').close()\nraise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    made = compactor()
    histories = steps(LONG)
    while not made.prepare():
        made.fit(next(histories))
    *_, history = steps(LONG)
    assert made.fit(history).cut is not None
    assert not Path("seen").exists()


def test_anthropic_messages_stay_valid() -> None:
    messages: list[Chat] = [{"role": "user", "content": "Find out why. Never touch prod.yaml."}]
    made = Compactor(model="claude-sonnet-4-5", window=WINDOW, format=ANTHROPIC, system="Mend.")
    cuts = 0
    for number in range(80):
        call = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {"n": number}}
        text = "\n".join(f"row {line} of {number}" for line in range(60))
        block = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [block]}]
        result = made.fit(messages)
        cuts += result.cut is not None
        assert result[0]["role"] == "user"
        called: set[str] = set()
        for message in result:
            blocks = message["content"] if isinstance(message["content"], list) else []
            assert {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"} == called
            called = {b["id"] for b in blocks if b["type"] == "tool_use"}
        assert "Never touch prod.yaml." in str(result)
    assert cuts > 1
