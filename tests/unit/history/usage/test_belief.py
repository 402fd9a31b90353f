"""Reports that cannot be true of what was sent, and those that can."""

from collections.abc import Sequence

import pytest

from compactctl.history.usage.belief import Doubt, Reason, Reports, judge, plausible_requests
from compactctl.history.usage.calibration import context_growth
from compactctl.history.usage.requests import Request
from compactctl.model.message import ReportedUsage
from compactctl.records import replace

ERROR, WINDOW = 0.2, 200_000
# Sizes of ten requests: what was counted of them, and what a provider reports with an overhead.
CONTENTS = [1_000 + 4_000 * step for step in range(10)]
TRUE = [contents + 18_000 for contents in CONTENTS]


def series(contexts: Sequence[int], contents: Sequence[int] = CONTENTS) -> tuple[Request, ...]:
    return tuple(
        Request(
            first_index=2 * index,
            message_indices=(2 * index,),
            context=context,
            output=10,
            reported_answer=10,
            counted_output=10,
            result_tokens=0,
            estimated_reasoning=0,
            hidden_reasoning=False,
            counted_before=content,
            contents=content,
            reasoning=0,
            turn=1,
            usage=ReportedUsage(context=context),
        )
        for index, (context, content) in enumerate(zip(contexts, contents, strict=False))
    )


def judged(contexts: Sequence[int], contents: Sequence[int] = CONTENTS) -> Reports:
    return judge(series(contexts, contents), ERROR, WINDOW)


def reason(reports: Reports) -> Reason | None:
    return reports.doubt.reason if reports.doubt else None


@pytest.mark.parametrize("start", range(1, len(TRUE) + 1))
def test_true_reports_are_believed_from_the_first_on(start: int) -> None:
    assert judged(TRUE[:start]) == Reports(requests=series(TRUE[:start]))


def test_without_reports_nothing_is_doubted() -> None:
    assert judged([]) == Reports(requests=())


@pytest.mark.parametrize(
    ("contexts", "why"),
    [
        ([3] * 10, "below its contents"),
        ([context // 100 for context in TRUE], "below its contents"),
        ([context // 3 for context in TRUE], "below its contents"),
        ([50_000] * 10, "does not grow"),
        ([30_000 + context // 3 for context in TRUE], "does not grow"),
        ([2_000_000 + context for context in TRUE], "beyond any window"),
    ],
)
def test_a_series_that_cannot_be_true_is_omitted_whole(contexts: list[int], why: Reason) -> None:
    found = judged(contexts)
    assert (found.requests, reason(found)) == ((), why)
    assert found.doubt is not None
    assert (found.doubt.index, found.doubt.context) == (18, contexts[-1])
    assert not found.doubt.is_used


def test_true_reports_before_false_ones_are_kept() -> None:
    found = judged([*TRUE[:6], 3, 3, 3, 3])
    assert found.requests == series(TRUE)[:6]
    assert found.doubt is not None
    assert (found.doubt.reports, found.doubt.contents) == (4, CONTENTS[-1])


def test_of_partial_reports_those_that_happen_to_be_large_are_not_believed() -> None:
    # All is new in the first request, and when the cache was lost in the last one.
    partial = [TRUE[0], 3_000, 4_000, 4_000, 18_900, TRUE[5]]
    found = judged(partial)
    assert [request.context for request in found.requests] == [TRUE[0], TRUE[5]]
    assert reason(found) == "below its contents"


def test_one_report_beyond_any_window_does_not_discredit_the_others() -> None:
    found = judged([*TRUE[:-1], 2_000_000])
    assert found.requests == series(TRUE)[:-1]
    assert reason(found) == "beyond any window"


def test_a_request_that_its_contents_explain_is_true_in_any_window() -> None:
    contents = [700_000 + 4_000 * step for step in range(4)]
    assert judged([content + 18_000 for content in contents], contents).doubt is None


def test_reports_that_grow_too_fast_are_used_with_a_warning() -> None:
    contexts = [18_000 + 5 * content for content in CONTENTS]
    found = judged(contexts)
    assert found.requests == series(contexts)
    assert found.doubt is not None
    assert (found.doubt.reason, found.doubt.is_used) == ("grows too fast", True)
    # They show no larger window.
    assert plausible_requests(series(contexts), WINDOW) == ()
    assert plausible_requests(series(TRUE), WINDOW) == series(TRUE)


def test_what_a_client_took_out_of_the_context_unseen_is_no_false_report() -> None:
    # The file still holds 100,000 tokens that the client no longer sends.
    contents = [100_000, *(101_000 + 1_000 * step for step in range(8))]
    falling = [118_000, *(20_000 + 1_000 * step for step in range(8))]
    early = judged(falling[:4], contents)
    assert (reason(early), early.requests) == ("below its contents", series(falling, contents)[:1])
    found = judged(falling, contents)
    assert found == Reports(requests=series(falling, contents))
    # Reports that are only what is new grow now and then as the conversation does, by chance.
    steps = [100, 700, 860, 4_000, 22_000]
    sums = [60_000 + sum(steps[:place]) for place in range(1, 6)]
    assert judged(steps, sums).requests == ()


def test_a_fall_that_the_contents_explain_is_an_edit() -> None:
    assert judged([*TRUE, 60_000]).doubt is None


@pytest.mark.parametrize(
    ("contents", "largest"), [(1_000, 250_000), (5_000, 250_000), (10_000, 260_000)]
)
def test_a_quarter_more_than_a_window_or_twice_the_contents_can_be_true(
    contents: int, largest: int
) -> None:
    assert judged([largest], [contents]).doubt is None
    found = judged([largest + 1], [contents])
    assert found == Reports(
        requests=(),
        doubt=Doubt(
            reason="beyond any window",
            index=0,
            context=largest + 1,
            contents=contents,
            reports=1,
        ),
    )


@pytest.mark.parametrize(("second", "left"), [(36_000, [20_000, 36_000, 38_000]), (36_001, [])])
def test_a_series_up_to_an_impossible_report_stays_if_no_more_than_half_of_it_is_too_fast(
    second: int, left: list[int]
) -> None:
    contexts, contents = [20_000, second, 38_000, 2_000_000], [1_000, 5_000, 9_000, 13_000]
    found = judged(contexts, contents)
    assert [request.context for request in found.requests] == left
    short = judged([*contexts[:2], 2_000_000], contents)
    assert [request.context for request in short.requests] == left[:2]
    assert short.doubt is not None
    assert short.doubt.reports == (1 if left else 3)


@pytest.mark.parametrize(
    ("contexts", "contents", "why"),
    [
        ([50_000, 51_600], [1_000, 3_000], None),
        ([50_000, 51_599], [1_000, 3_000], "does not grow"),
        ([50_000, 50_000], [1_000, 2_999], None),
        ([8_000], [10_000], None),
        ([7_999], [10_000], "below its contents"),
        # Flat, and the newest is smaller than what it holds.
        ([30_000, 30_000], [1_000, 40_000], "below its contents"),
        ([30_000, 30_000], [1_000, 37_500], "does not grow"),
    ],
)
def test_a_report_may_be_a_fifth_too_small(
    contexts: list[int], contents: list[int], why: Reason | None
) -> None:
    found = judged(contexts, contents)
    assert reason(found) == why
    assert found.requests == (() if why else series(contexts, contents))


@pytest.mark.parametrize(("last", "believed"), [(50_000, True), (49_999, False)])
def test_after_a_partial_report_only_one_as_large_as_before_is_believed(
    last: int,
    believed: bool,  # noqa: FBT001
) -> None:
    found = judged([50_000, 100, last], [1_000, 2_000, 2_500])
    assert [request.context for request in found.requests] == [50_000, *[last] * believed]
    assert judged([50_000, 20_000, 49_999], [1_000, 2_000, 2_500]).doubt is None


@pytest.mark.parametrize(
    ("contexts", "contents", "reports"),
    [
        ([20_000, 60_000], [0, 10_000], 0),
        ([20_000, 60_001], [0, 10_000], 2),
        ([20_000, 120_000], [0, 9_999], 0),
        # Only since the context fell.
        ([100_000, 20_000, 60_001], [0, 1_000, 11_000], 2),
    ],
)
def test_four_times_what_entered_is_too_fast(
    contexts: list[int], contents: list[int], reports: int
) -> None:
    found = judged(contexts, contents)
    assert found.requests == series(contexts, contents)
    assert (found.doubt.reports if found.doubt else 0) == reports
    if found.doubt:
        assert (found.doubt.context, found.doubt.contents) == (contexts[-1], contents[-1])
    assert len(plausible_requests(series(contexts, contents), WINDOW)) == (
        0 if reports else len(contexts)
    )


@pytest.mark.parametrize(
    ("count", "entered", "grown", "first", "believed"),
    [
        (5, 1_000, 1_000, 20_000, True),
        (4, 1_000, 1_000, 20_000, False),
        (5, 1_000, 800, 20_000, True),
        (5, 1_000, 799, 20_000, False),
        (5, 1_000, 2_000, 20_000, True),
        (5, 1_000, 2_001, 20_000, False),
        (5, 500, 500, 20_000, True),
        (5, 499, 499, 20_000, False),
        (5, 5_000, 5_000, 20_000, True),
        (5, 5_000, 5_000, 19_999, False),
        (25, 100, 100, 20_000, True),
        (25, 99, 99, 20_000, False),
    ],
)
def test_a_small_series_is_believed_if_it_grows_step_by_step_with_its_contents(
    count: int,
    entered: int,
    grown: int,
    first: int,
    believed: bool,  # noqa: FBT001
) -> None:
    contents = [100_000 + entered * step for step in range(count)]
    contexts = [first + grown * step for step in range(count)]
    found = judged(contexts, contents)
    assert found.requests == (series(contexts, contents) if believed else ())


@pytest.mark.parametrize(
    "growth", [[100, 100, 100, 4_000, 700], [1_000, 1_000, 1_000, 9_000, 1_000]]
)
def test_neither_a_few_steps_nor_the_sum_alone_make_a_series_true(growth: list[int]) -> None:
    contents = [100_000 + 1_000 * step for step in range(6)]
    contexts = [20_000 + sum(growth[:step]) for step in range(6)]
    assert judged(contexts, contents).requests == ()


@pytest.mark.parametrize(("turn", "fell"), [(1, True), (2, False)])
def test_reasoning_that_goes_with_its_turn_is_no_fall(turn: int, fell: bool) -> None:  # noqa: FBT001
    first, second = series([50_000, 40_000], [1_000, 2_000])
    thought = replace(first, reasoning=9_998)
    growth = context_growth([thought, replace(second, turn=turn)])
    assert growth == [-10_000 if fell else 0]
