"""Reports of proxies that add what was read from a cache to what already includes it."""

from collections.abc import Sequence

import pytest
from builders import assistant, conversation, user
from unit.history.usage.sessions import session

from compactctl.history.usage.counted_twice import growth_ratio, without_double_counts
from compactctl.history.usage.requests import find_requests
from compactctl.model.message import Message, ReportedUsage
from compactctl.model.transcript import Transcript
from compactctl.records import replace

STEP = 1_000


def words(message: Message) -> float:
    return float(sum(len(getattr(part, "text", "").split()) for part in message.parts))


def reported(
    contexts: Sequence[int], reads: Sequence[int], writes: Sequence[int], *, is_sum: bool = True
) -> Transcript:
    """Build a session to which each request adds 1,000 words, with these reports."""
    talk = []
    for n, (context, read, write) in enumerate(zip(contexts, reads, writes, strict=True)):
        usage = ReportedUsage(
            context=context, output=0, cache_read=read, cache_write=write, is_sum=is_sum
        )
        talk += [user("w " * (STEP - 1)), replace(assistant("w"), response_id=f"r{n}", usage=usage)]
    return session(*talk)


def contexts_of(transcript: Transcript) -> list[int]:
    return [m.usage.context for m in transcript.effective if m.usage]


TRUE = [STEP * (n + 1) for n in range(8)]
READS = [0, *TRUE[:-1]]
NONE = [0] * 8


def test_what_was_read_from_a_cache_is_taken_off_where_it_was_added() -> None:
    twice = reported([true + read for true, read in zip(TRUE, READS, strict=True)], READS, NONE)
    found, ratio = without_double_counts(twice, lambda: words)
    assert contexts_of(found) == [m.usage.context for m in found.messages if m.usage] == TRUE
    assert ratio == pytest.approx(2, rel=0.01)


def test_what_was_written_to_it_is_taken_off_as_well() -> None:
    reads, writes = [400 * n for n in range(8)], [500 * n for n in range(8)]
    sums = [sum(sizes) for sizes in zip(TRUE, reads, writes, strict=True)]
    found, ratio = without_double_counts(reported(sums, reads, writes), lambda: words)
    assert contexts_of(found) == TRUE
    assert ratio == pytest.approx(1.9, rel=0.01)


def test_true_reports_stay() -> None:
    true = reported(TRUE, [read // 3 for read in READS], NONE)
    assert without_double_counts(true, lambda: words) == (true, None)


@pytest.mark.parametrize("is_sum", [True, False])
def test_nothing_is_counted_where_no_report_can_be_double(is_sum: bool) -> None:  # noqa: FBT001
    def never() -> None:
        raise AssertionError

    cached = NONE if is_sum else READS
    plain = reported([2 * true for true in TRUE], cached, NONE, is_sum=is_sum)
    assert without_double_counts(plain, never) == (plain, None)  # type: ignore[arg-type]
    # The new input is smaller than what was read once: it does not include that.
    once = [true + read for true, read in zip(TRUE, READS, strict=True)]
    once[3] -= 1_001
    less = reported(once, READS, NONE)
    assert without_double_counts(less, never) == (less, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("growth", "changed"), [(1_250, False), (1_350, True)])
def test_growth_is_suspicious_from_three_tenths_more_on(
    growth: int,
    changed: bool,  # noqa: FBT001
) -> None:
    reads = [(growth - STEP) * n for n in range(8)]
    twice = reported([growth * n + STEP for n in range(8)], reads, NONE)
    found, ratio = without_double_counts(twice, lambda: words)
    assert (found != twice) is changed
    assert (ratio is not None) is changed


def test_reports_stay_where_taking_the_cache_off_does_not_explain_them() -> None:
    # Ten times too large, a little of it read: still too large without.
    odd = reported([10 * true for true in TRUE], [true // 2 for true in READS], NONE)
    assert without_double_counts(odd, lambda: words) == (odd, None)


def test_too_little_growth_says_nothing() -> None:
    def ratio(contexts: Sequence[int]) -> float | None:
        talk = reported(contexts, [0] * len(contexts), [0] * len(contexts))
        return growth_ratio(find_requests(talk.effective, words))

    assert ratio([1_000, 2_000, 3_000]) == 1
    assert ratio([1_000, 3_000]) is None
    # A fall counts neither as growth nor as what entered.
    assert ratio([9_000, 1_000, 4_000, 7_000]) == 3
    assert ratio([]) is None


def test_the_conversation_with_the_most_reports_decides() -> None:
    twice = reported([true + read for true, read in zip(TRUE, READS, strict=True)], READS, NONE)
    other = conversation(
        *(
            user("w " * 9_000, conversation=1)
            if n % 2
            else assistant("w", conversation=1, usage=ReportedUsage(context=100, is_sum=True))
            for n in range(4)
        )
    )
    both = replace(twice, effective=(*other, *twice.effective))
    found, ratio = without_double_counts(both, lambda: words)
    assert ratio is not None
    assert contexts_of(found)[2:] == TRUE
