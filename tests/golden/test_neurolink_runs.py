"""Whole runs of NeuroLink's stages; T and I numbers are those of its own tests."""

from itertools import pairwise

import pytest
from builders import message
from golden.trying import chat, compacted, tool_heavy

from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message
from compactctl.pipeline.run import PipelineRun
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.meter import Meter

# Windows less the output reserve.
GPT_4, GEMINI, SONNET_4, GPT_4O = 5_324, 984_576, 136_000, 83_200
STAGES = ("prune", "dedup", "truncate")


def size(messages: tuple[Message, ...]) -> int:
    return Meter(parse_counter("neurolink")).total(messages)


def applied(found: PipelineRun) -> list[str]:
    return [record.name for record in found.stages if record.outcome == "applied"]


def test_t16_and_i4_nothing_is_done_within_the_target() -> None:
    for messages in (chat(4, 10), chat(10, 100)):
        found = compacted(messages, *STAGES, target=100_000)
        assert (applied(found), found.view.messages) == ([], messages)


def test_t17_prune_is_used_on_tool_heavy_talk() -> None:
    settings = {"prune": {"protect_tokens": 1_000, "min_savings": 100}}
    messages = tool_heavy(20)
    found = compacted(messages, "prune", "truncate", target=10_000, settings=settings)
    assert "prune" in applied(found)
    assert size(found.view.messages) < size(messages)


@pytest.mark.parametrize(("count", "stages"), [(100, STAGES), (20, ("truncate",))])
def test_t18_and_t19_long_talk_is_truncated(count: int, stages: tuple[str, ...]) -> None:
    found = compacted(chat(count, 500), *stages, target=1_000)
    assert applied(found) == ["truncate"]
    assert len(found.view.messages) < count
    assert size(found.view.messages) <= 1_000


def test_i1_two_hundred_turns_fit_a_small_window() -> None:
    messages = chat(400, 1_000)
    assert size(messages) / GPT_4 > 1
    found = compacted(messages, *STAGES, target=GPT_4)
    assert len(found.view.messages) < 400
    assert size(found.view.messages) <= GPT_4


def test_i2_thirty_tool_heavy_turns() -> None:
    assert applied(compacted(tool_heavy(30), *STAGES, target=5_000))


@pytest.mark.parametrize(("turns", "target"), [(20, 5_000), (50, GPT_4)])
def test_i3_and_i9_pairs_are_whole_after_a_repair(turns: int, target: int) -> None:
    settings = {"prune": {"protect_tokens": 1_000, "min_savings": 500}}
    found = compacted(tool_heavy(turns), *STAGES, "repair", target=target, settings=settings)
    left = found.view.messages
    assert "repair" not in applied(found)
    assert find_orphans(left) == frozenset()
    for one, following in pairwise(left):
        assert bool(one.calls) == bool(following.results)


def test_i5_what_is_left_is_in_order() -> None:
    found = compacted(chat(100, 1_000), *STAGES, target=10_000)
    numbers = [int(m.id[1:]) for m in found.view.messages if not m.origin.is_synthetic]
    assert numbers == sorted(numbers)
    assert [m.origin.is_synthetic for m in found.view.messages[:4]] == [False, False, True, False]


def test_i6_and_i10_the_window_decides() -> None:
    messages = chat(200, 1_000)
    assert not applied(compacted(messages, *STAGES, target=GEMINI))
    assert applied(compacted(messages, *STAGES, target=GPT_4)) == ["truncate"]


def test_i7_the_threshold_decides() -> None:
    messages = chat(40, 1_000)
    assert applied(compacted(messages, "truncate", target=int(GPT_4O * 0.1)))
    assert not applied(compacted(messages, "truncate", target=int(GPT_4O * 0.99)))


def test_i8_a_thousand_messages() -> None:
    messages = chat(1_000, 1_000)
    counter = "neurolink/anthropic"
    found = compacted(messages, *STAGES, target=SONNET_4, counter=counter)
    (record,) = [each for each in found.stages if each.outcome == "applied"]
    assert record.tokens_saved > 10_000
    assert record.tokens_after <= SONNET_4 < record.tokens_before


def test_i11_edges() -> None:
    assert compacted((), *STAGES, target=100).view.messages == ()
    assert len(compacted(chat(1, 9_000), *STAGES, target=100).view.messages) == 1
    found = compacted(
        chat(20, 400), "truncate", target=100, settings={"truncate": {"fraction": 0.9}}
    )
    assert len(found.view.messages) < 20
    huge = compacted(chat(6, 50_000), *STAGES, target=10_000)
    assert sum(record.tokens_saved for record in huge.stages) > 0


def test_every_message_left_is_one_that_was_there() -> None:
    messages = tool_heavy(9)
    kept = compacted(messages, "truncate", target=5_000).view.messages
    assert [message(m.role, *m.parts) for m in kept if not m.origin.is_synthetic] == [
        message(m.role, *m.parts) for m in messages if m.id in {one.id for one in kept}
    ]
