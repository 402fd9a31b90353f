"""What the provider reported is used, whatever a log of requests looks like."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file, rewind_file, stats_of_file
from unit.commands.conversations import append, saved, squeeze, words

from compactctl.commands.batch.batch import BatchOptions, batch
from compactctl.commands.batch.options import BatchGates
from compactctl.commands.inspect.check import CheckOptions, check
from compactctl.commands.inspect.stats import StatsOptions, StatsResult
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.measuring.next_request import ExtraOptions
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.reading.discover import FileChoice
from compactctl.commands.reading.transcript import InputOptions
from compactctl.tokens.trigger import parse_trigger

Record = dict[str, Any]
OVERHEAD = 9_000
# A token for four characters, so that what is counted is known.
CHARS = MeasureOptions(counter="chars/4", window=60_000)


def openai(context: int, answer: Record, name: str) -> Record:
    usage = {"prompt_tokens": context, "completion_tokens": 3}
    return {**answer, "id": name, "model": "gpt-4o", "usage": usage}


def anthropic(context: int, answer: Record, name: str) -> Record:
    usage = {"input_tokens": 7, "cache_read_input_tokens": context - 7, "output_tokens": 3}
    facts = {"id": name, "model": "claude-sonnet-4-5", "stop_reason": "end_turn", "usage": usage}
    return {**answer, **facts, "content": [{"type": "text", "text": answer["content"]}]}


Report = Callable[[int, Record, str], Record]


def talk(
    report: Report, numbers: Sequence[int], *, overhead: int = OVERHEAD, name: str = ""
) -> list[Record]:
    """Return prompts and answers; each answer reports what stands before it and the overhead."""
    found: list[Record] = []
    for number in numbers:
        found.append({"role": "user", "content": f"Question {number}: {words(200)}"})
        said = sum(len(str(record["content"])) for record in found) // 4
        answer = {"role": "assistant", "content": f"Answer {number}"}
        found.append(report(overhead + said, answer, name or f"answer-{number}"))
    return found


def measured(path: Path, system: Path | None = None) -> StatsResult:
    extras = ExtraOptions(system=None if system is None else str(system))
    return stats_of_file(path, measure=CHARS, extras=extras)


def size(path: Path) -> int:
    return measured(path).usage.tokens


@pytest.mark.parametrize("name", ["", "chatcmpl-proxy"], ids=["own id", "one id"])
@pytest.mark.parametrize("report", [openai, anthropic])
def test_messages_that_report_their_usage(report: Report, name: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "log.jsonl", talk(report, range(8), name=name))
    found = stats_of_file(path, measure=CHARS, rounds=True)
    assert found.usage.tokens == pytest.approx(OVERHEAD + found.breakdown.total, abs=200)
    assert found.rounds is not None
    assert [each.place.turn for each in found.rounds.rounds] == list(range(1, 9))
    assert found.rounds.output == 8 * 3
    due = check(
        CheckOptions(
            stats=StatsOptions(input=InputOptions(path=str(path)), measure=CHARS),
            trigger=parse_trigger("9k"),
        )
    )
    assert due.due


def response(report: Report) -> Record:
    """Return a logged request with its answer as the provider gave it."""
    *messages, answer = talk(report, range(8))
    if report is anthropic:
        return {
            "model": answer["model"],
            "system": "Be brief.",
            "messages": messages,
            "response": answer,
        }
    facts = {name: answer.pop(name) for name in ("id", "usage", "model")}
    return {"messages": messages, "response": {**facts, "choices": [{"message": answer}]}}


def beside(report: Report) -> Record:
    """Return a conversation with the usage of its newest answer beside the messages."""
    messages = talk(report, range(8))
    usage = [message.pop("usage") for message in messages if "usage" in message]
    return {"messages": messages, "usage": usage[-1]}


@pytest.mark.parametrize(
    ("document", "report"), [(response, openai), (response, anthropic), (beside, openai)]
)
def test_a_document_that_reports_its_usage(
    document: Callable[[Report], Record], report: Report, tmp_path: Path
) -> None:
    path = saved(tmp_path / "log.jsonl", [document(report)])
    found = stats_of_file(path, measure=CHARS)
    assert found.usage.tokens == pytest.approx(OVERHEAD + found.breakdown.total, abs=200)


@pytest.mark.parametrize("report", [openai, anthropic])
def test_of_several_requests_in_a_log_a_larger_report_is_named(
    report: Report, tmp_path: Path
) -> None:
    path = saved(tmp_path / "log.jsonl", [response(report), response(report)])
    [warning] = stats_of_file(path, measure=CHARS).warnings
    assert "only the count is used" in warning
    # A system prompt that is given makes the largest request larger, and may explain the report.
    for name, size in (("some", 4_000), ("all", 40_000)):
        (tmp_path / name).write_text("four" * size)
    counted = max(request.tokens for request in measured(path).requests)
    [more] = measured(path, tmp_path / "some").warnings
    assert f"is more than the {counted + 4_000:,} counted of the largest request" in more
    assert not measured(path, tmp_path / "all").warnings
    small = saved(tmp_path / "small.jsonl", [{"messages": talk(report, range(2), overhead=0)}] * 2)
    assert not stats_of_file(small, measure=CHARS).warnings


@pytest.mark.parametrize("overhead", [OVERHEAD, -450], ids=["more", "less"])
@pytest.mark.parametrize("report", [openai, anthropic])
def test_what_is_reported_of_several_requests_and_not_used_fails_a_gate(
    report: Report, overhead: int, tmp_path: Path
) -> None:
    """Whatever ``stats`` warns of in a file, a batch flags: it shows no warnings of files."""
    document = {"messages": talk(report, range(2), overhead=overhead)}
    # The lines of a log are measured one by one.
    path = saved(tmp_path / "log.json", [[document] * 3])
    [warning] = stats_of_file(path, measure=CHARS).warnings
    assert "the count is used" in warning
    assert (
        check(
            CheckOptions(stats=StatsOptions(input=InputOptions(path=str(path)), measure=CHARS))
        ).stats.size.doubt
        == warning
    )
    options = BatchOptions(
        files=FileChoice(paths=(str(path),)),
        recipe=Recipe(measure=CHARS),
        gates=BatchGates(fail_on=("usage",)),
        cached=False,
    )
    [row] = batch(options).rows
    assert row.flags == ("usage",)


@pytest.mark.parametrize("report", [openai, anthropic])
def test_after_a_compaction_what_was_reported_before_is_not_used(
    report: Report, tmp_path: Path
) -> None:
    path = saved(tmp_path / "log.jsonl", talk(report, range(8)))
    whole = size(path)
    result = squeeze(path, "truncate", measure=CHARS)
    after = size(path)
    assert after == result.largest_after < whole
    more = talk(report, range(8, 12), overhead=after)
    append(path, more)
    assert size(path) == pytest.approx(
        after + sum(len(str(m["content"])) for m in more) // 4, abs=200
    )
    rewind_file(path)
    assert len(load_file(path).transcript.effective) == 2 * 12


def test_reasoning_that_is_not_stored_is_billed_and_not_sent_again(tmp_path: Path) -> None:
    messages = talk(openai, range(2))
    usage = {"prompt_tokens": 10_000, "completion_tokens": 5_003}
    messages[-1]["usage"] = {**usage, "completion_tokens_details": {"reasoning_tokens": 5_000}}
    path = saved(tmp_path / "log.jsonl", messages)
    found = stats_of_file(path, measure=CHARS, rounds=True)
    assert found.usage.tokens == pytest.approx(10_003, abs=10)
    assert found.rounds is not None
    assert found.rounds.rounds[-1].output == 5_003
