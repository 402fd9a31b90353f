"""Reports that cannot be true of what was sent, and those that can."""

from collections.abc import Sequence

import pytest

from compactctl.history.usage.belief import Reason, Reports, judge, plausible_requests
from compactctl.history.usage.requests import Request
from compactctl.model.message import ReportedUsage

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
def test_a_series_that_cannot_be_true_is_left_out_whole(contexts: list[int], why: Reason) -> None:
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
