"""Whatever is edited in a plan, it hides and parts nothing that must stay, in any format."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.asking import SAMPLES
from formats.content.block_kinds import server_pairs
from formats.known import REAL, WRITTEN, Known, each_known
from unit.commands.planning.planned import FAST, plan_of, with_fate

from compactctl.commands.measuring.measure import measure
from compactctl.commands.planning.apply_plan import apply_plan
from compactctl.commands.planning.plan_file import PlanFile, PlannedMessage, PlannedText
from compactctl.errors import UsageError
from compactctl.history.pairs import atomic_units
from compactctl.history.turns import leading_system_count, split_conversations
from compactctl.model.message import GroupId, Message, MessageId
from compactctl.records import replace

Row = PlannedMessage


def request_document(folder: Path) -> Path:
    """Write a logged request to Anthropic's API, with a system prompt and the answer to it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Start the port. " * 20}]
    for n in range(12):
        use = {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"file_path": f"{n}.py"}}
        text = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"part {n}\n" * 40}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [text]}]
    answer = {"role": "assistant", "content": [{"type": "text", "text": "All parts are ported."}]}
    document = {
        "model": "claude-sonnet-4-5",
        "system": "You are an agent.",
        "messages": messages,
        "response": answer,
    }
    path = folder / "request.json"
    path.write_text(json.dumps(document))
    return path


def with_row(plan: PlanFile, name: str, change: Callable[[Row], Row]) -> PlanFile:
    return replace(
        plan, messages=tuple(change(row) if row.id == name else row for row in plan.messages)
    )


def ways_to_hide(plan: PlanFile) -> Iterator[Callable[[Row], Row]]:
    """Yield what can be edited in a row so that its message is gone."""
    stand_in = next((row.group for row in plan.messages if row.written is not None), None)
    text = PlannedText(part=0, text="")
    yield lambda row: replace(with_fate(row, "hidden"), group=None, texts=())
    yield lambda row: replace(with_fate(row, "hidden"), group=GroupId("nowhere"), texts=(text,))
    if stand_in:
        yield lambda row: replace(with_fate(row, "hidden"), group=stand_in, texts=())


def staying(messages: Sequence[Message]) -> Iterator[tuple[MessageId, str]]:
    """Yield one message for each reason why some must stay, by the rule that the docs state."""
    seen: set[str] = set()
    for unit in atomic_units(messages):
        for index in unit:
            message = messages[index]
            why = message.locks.immutable_reason or message.locks.unmovable_reason or ""
            why = why or ("system prompt" if index < leading_system_count(messages) else "")
            why = why or ("newest" if index == len(messages) - 1 else "")
            why = why or ("pair" if len(unit) > 1 else "")
            if why and why not in seen:
                seen.add(why)
                yield message.id, why


def check(path: Path) -> int:
    """Try to hide what must stay, in every way; return how many messages that are."""
    transcript, plan = plan_of(path, "truncate")
    kept = {row.id for row in plan.messages if row.fate == "kept"}
    measured = measure(transcript, FAST)
    count = 0
    for messages in split_conversations(transcript.effective)[:2]:
        for name, why in staying(messages):
            if name not in kept:
                continue
            count += 1
            for change in ways_to_hide(plan):
                with pytest.raises(UsageError, match="cannot be hidden") as refusal:
                    apply_plan(transcript, with_row(plan, name, change), measured)
                assert "\n" not in str(refusal.value), why
    return count


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_what_must_stay_cannot_be_hidden(sample: Path) -> None:
    assert check(sample)


def test_the_system_prompt_of_a_request_and_its_answer_cannot_be_hidden(tmp_path: Path) -> None:
    assert check(request_document(tmp_path)) == 3


@each_known((*WRITTEN, *REAL))
def test_what_must_stay_in_sessions_of_clients_cannot_be_hidden(known: Known) -> None:
    check(known.place)


def moved(plan: PlanFile, before: str) -> PlanFile:
    """Put what the plan writes first before another message."""
    row = next(row for row in plan.messages if row.written is not None)
    rows = [each for each in plan.messages if each is not row]
    at = next(n for n, each in enumerate(rows) if each.id == before)
    return replace(plan, messages=(*rows[:at], row, *rows[at:]))


@pytest.mark.parametrize(
    "sample", ["anthropic-messages", "claude-code-session", "codex-session", "neurolink"]
)
def test_nothing_is_written_into_a_pair_or_before_the_system_prompt(sample: str) -> None:
    transcript, plan = plan_of(SAMPLES / f"{sample}.jsonl", "truncate")
    measured = measure(transcript, FAST)
    messages = split_conversations(transcript.effective)[0]
    kept = {row.id for row in plan.messages if row.fate == "kept"}
    inside = [
        messages[unit[1]].id
        for unit in atomic_units(messages)
        if len(unit) > 1 and messages[unit[0]].id in kept
    ]
    front = [message.id for message in messages[: leading_system_count(messages)]]
    assert inside or front
    for name in (*inside[:1], *front[:1]):
        with pytest.raises(UsageError, match="cannot be placed before the message on line"):
            apply_plan(transcript, moved(plan, name), measured)
    for row in plan.messages:
        if row.written is None and row.fate == "hidden":
            apply_plan(transcript, moved(plan, row.id), measured)
            break


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda row: replace(row, texts=(PlannedText(part=9, text="x"),)), "no part 9 that can be"),
        (lambda row: replace(row, texts=(PlannedText(part=0, text="not JSON"),)), "no part 0 that"),
        (lambda row: replace(row, texts=()), "no replacement text"),
    ],
)
def test_a_call_is_rewritten_to_arguments_alone(
    change: Callable[[Row], Row], why: str, tmp_path: Path
) -> None:
    transcript, plan = plan_of(request_document(tmp_path), "truncate")
    call = next(m for m in reversed(transcript.effective) if m.calls)
    group = GroupId("mine")
    new = with_row(
        plan, call.id, lambda row: change(replace(with_fate(row, "rewritten"), group=group))
    )
    with pytest.raises(UsageError, match=why):
        apply_plan(transcript, new, measure(transcript, FAST))


def test_the_system_prompt_is_not_rewritten() -> None:
    transcript, plan = plan_of(SAMPLES / "openai-chat.jsonl", "truncate")
    text = PlannedText(part=0, text="Obey.")
    edited = with_row(
        plan,
        transcript.effective[0].id,
        lambda row: replace(with_fate(row, "rewritten"), group=GroupId("mine"), texts=(text,)),
    )
    with pytest.raises(UsageError, match="cannot be rewritten: system prompt"):
        apply_plan(transcript, edited, measure(transcript, FAST))


@pytest.mark.parametrize("part", [0, 1], ids=["call", "result"])
def test_what_only_a_provider_understands_is_not_rewritten(part: int, tmp_path: Path) -> None:
    call, result = next(server_pairs(0))
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": [call, result]},
        *({"role": "user", "content": f"And {n}? " * 40} for n in range(8)),
    ]
    path = tmp_path / "search.json"
    path.write_text(json.dumps({"system": "Be brief.", "messages": talk}))
    transcript, plan = plan_of(path, "truncate")
    searched = next(m for m in transcript.effective if m.results)
    text = PlannedText(part=part, text="{}")
    edited = with_row(
        plan,
        searched.id,
        lambda row: replace(with_fate(row, "rewritten"), group=GroupId("mine"), texts=(text,)),
    )
    with pytest.raises(UsageError, match=f"no part {part} that can be rewritten"):
        apply_plan(transcript, edited, measure(transcript, FAST))


def test_no_entry_is_there_twice() -> None:
    transcript, plan = plan_of(SAMPLES / "openai-chat.jsonl", "truncate")
    (row,) = (row for row in plan.messages if row.written is not None)
    names = Counter(row.id for row in plan.messages)
    assert set(names.values()) == {1}
    with pytest.raises(UsageError, match=f"two entries for {row.id}"):
        apply_plan(
            transcript,
            replace(plan, messages=(row, *plan.messages)),
            measure(transcript, FAST),
        )
