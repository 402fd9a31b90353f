from collections.abc import Callable

import pytest
from builders import assistant, call, conversation, message, result, system, thinking, user
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    joined,
    meter,
    propose,
    skipped,
    view,
    words,
)

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message
from compactctl.model.summary import Summary, SummaryInputs, SummaryRequest
from compactctl.pipeline.run import StageStep, run
from compactctl.records import replace
from compactctl.stages import truncate
from compactctl.stages.summarize import PREFIX, STAGE


def given(of: ConversationView, summary: str = "short") -> ConversationView:
    return replace(of, summary_inputs=SummaryInputs(summary=summary))


def chat(count: int, size: int = 30) -> tuple[Message, ...]:
    kinds = (user, assistant)
    return conversation(*(kinds[n % 2](f"{n} {words(size)}") for n in range(count)))


@pytest.mark.parametrize(
    ("count", "split"), [(6, 2), (10, 6), (13, 9), (14, 9), (15, 10), (20, 14), (50, 35), (100, 70)]
)
def test_the_newest_three_tenths_are_kept_at_least_four(count: int, split: int) -> None:
    proposal = propose(STAGE, given(view(chat(count))))
    assert hidden(proposal) == [f"m{n}" for n in range(split)]


def test_a_few_messages_are_not_summarized() -> None:
    outcome = skipped(STAGE, given(view(chat(4))))
    assert outcome.reason == "only 4 messages, a summary needs more than 4"
    assert "older than those to keep" in skipped(STAGE, given(view(chat(5)))).reason


def test_the_summary_stands_before_what_is_kept_and_says_what_it_is() -> None:
    proposal = propose(STAGE, given(view(chat(10)), "  We met.\n"))
    insert = inserted(proposal)
    assert insert.before == "m0"
    assert insert.message.text == f"{PREFIX}We met."
    assert (insert.message.role, insert.message.kind) == ("user", "summary")
    assert insert.message.through == "m9"
    assert insert.message.details == {
        "summarizesFrom": "m0",
        "summarizesTo": "m5",
        "messages": 6,
        "tokens": 5,
        "summarizer": "file",
    }


def test_the_system_prompt_stays_in_front() -> None:
    messages = joined(system("be good"), *chat(10))
    after = carried_out(view(messages), propose(STAGE, given(view(messages)))).messages
    assert [m.role for m in after][:2] == ["system", "user"]
    assert after[1].origin.is_summary
    assert len(after) == 6


def test_a_tool_pair_is_not_parted() -> None:
    messages = joined(
        *chat(3), call("a", "Bash"), call("b", "Bash"),
        result("a", words(50)), result("b", words(50)),
        assistant("ok"), user("thanks"),
    )  # fmt: skip
    proposal = propose(STAGE, given(view(messages)))
    assert hidden(proposal) == ["m0", "m1", "m2"]
    after = carried_out(view(messages), proposal)
    assert find_orphans(after.messages) == frozenset()


def test_a_pair_across_the_wanted_cut_is_kept() -> None:
    messages = joined(
        *chat(4), call("a", "Bash"), result("a", words(50)), assistant("b"), user("c"), user("d")
    )
    assert hidden(propose(STAGE, given(view(messages)))) == ["m0", "m1", "m2", "m3"]


def test_pinned_messages_inside_stay_visible() -> None:
    of = view(chat(20), protected=["m0", "m7"])
    proposal = propose(STAGE, given(of))
    assert set(hidden(proposal)) == {f"m{n}" for n in range(14)} - {"m0", "m7"}
    after = carried_out(of, proposal).messages
    assert [m.id for m in after[:3]] == ["m0", inserted(proposal).message.id, "m7"]


def test_protected_newest_messages_move_the_cut_back() -> None:
    of = view(chat(20), protected=[f"m{n}" for n in range(8, 20)])
    assert hidden(propose(STAGE, given(of)))[-1] == "m7"


def test_the_summary_never_lands_between_a_call_and_its_result() -> None:
    messages = joined(
        call("a", "Bash", anchored="live"), user(words(50)), user(words(50)), result("a", "x"),
        *chat(8),
    )  # fmt: skip
    of = view(messages, protected=["m0"])
    proposal = propose(STAGE, given(of))
    assert hidden(proposal)[:2] == ["m1", "m2"]
    assert inserted(proposal).before == "m0"


def test_tokens_can_say_how_much_is_kept() -> None:
    of = view(chat(20))
    assert len(hidden(propose(STAGE, given(of), keep_tokens=31 * 9))) == 11
    assert len(hidden(propose(STAGE, given(of), keep_tokens=1))) == 16


def test_a_share_of_the_target_can_be_kept() -> None:
    of = view(chat(20), target=31 * 10)
    assert len(hidden(propose(STAGE, given(of), keep_ratio=0.5, keep_unit="target"))) == 15
    assert len(hidden(propose(STAGE, given(view(chat(20))), keep_unit="target"))) == 14


def test_a_finished_summary_leaves_room_by_its_own_size() -> None:
    of = view(chat(20), target=31 * 11)
    assert len(hidden(propose(STAGE, given(of), keep_ratio=0.5))) == 10


def test_the_newest_message_is_never_summarized() -> None:
    proposal = propose(STAGE, given(view(chat(9))), keep_ratio=0.0, keep_min=0)
    assert hidden(proposal)[-1] == "m7"


def test_a_context_that_would_grow_is_left_alone() -> None:
    outcome = skipped(STAGE, given(view(chat(10, size=2)), words(15)))
    assert outcome.reason == "a summary would be no smaller than the 18 tokens it replaces"


def test_a_second_run_finds_nothing() -> None:
    of = view(chat(20))
    after = carried_out(of, propose(STAGE, given(of)))
    outcome = skipped(STAGE, given(after))
    assert outcome.reason == "nothing was added since the last summary"


def test_a_later_summary_is_made_from_the_originals_of_the_earlier_one() -> None:
    rules = [user(f"Always keep rule {n} in src/rules_{n}.py " + words(400)) for n in range(14)]
    of = view(conversation(*rules, *(assistant(words(30)) for _ in range(6))))
    first = propose(STAGE, given(of, "We talked about marmalade. " + words(20)))
    after = carried_out(of, first).messages
    more = tuple(message("user", *user(words(600)).parts, id=f"n{n}") for n in range(14))
    originals = {inserted(first).message.id: of.messages[:14]}
    again = view((*after, *more), originals=originals)
    second = propose(STAGE, again)
    assert inserted(first).message.id in hidden(second)
    text = inserted(second).message.text
    assert "src/rules_" in text
    assert "marmalade" not in text


def test_the_built_in_summary_is_at_most_half_of_what_it_replaces() -> None:
    of = view(chat(60, size=60))
    proposal = propose(STAGE, of)
    replaced = meter().total(m for m in of.messages if m.id in set(hidden(proposal)))
    written = meter().text(inserted(proposal).message.text)
    assert 0 < written <= replaced // 2 + meter().text(PREFIX)


def test_markers_are_not_summarized_but_hidden_with_the_rest() -> None:
    of = view(chat(40))
    cut = carried_out(of, propose(truncate.STAGE, of))
    proposal = propose(STAGE, given(cut))
    assert any(name.startswith("truncation-") for name in hidden(proposal))


def exchanges(count: int) -> tuple[Message, ...]:
    """A question, a call, its result and an answer, ``count`` times."""
    return joined(
        *(
            each
            for n in range(count)
            for each in (
                user(words(9)),
                call(f"c{n}", "Bash"),
                result(f"c{n}", words(99)),
                assistant(words(9)),
            )
        )
    )


def kept(of: tuple[Message, ...], **options: int) -> int:
    options = {"keep_min": 0, "min_messages": 3} | options
    return len(of) - len(hidden(propose(STAGE, given(view(of)), **options)))


def test_messages_with_text_can_be_counted_instead() -> None:
    of = exchanges(12)
    # Answer, result, call, question, answer: what stands among the three texts is kept as well.
    assert kept(of, keep_texts=3) == 5
    assert kept(of, keep_texts=3, keep_min=9) == 9
    # More tokens are wanted than the five messages have: the next one is a result, with its call.
    assert kept(of, keep_texts=3, keep_tokens=150) == 7
    # The cap ends it before there are enough texts; a pair is never parted.
    assert kept(of, keep_texts=30, keep_tokens_max=110) == 3
    assert kept(of, keep_texts=30, keep_tokens=900, keep_tokens_max=1) == 1


def test_role_and_first_line_can_be_chosen() -> None:
    of = view(chat(20))
    written = inserted(propose(STAGE, given(of), role="system", prefix="[{count} earlier]"))
    assert (written.message.role, written.message.text) == ("system", "[14 earlier]\n\nshort")
    assert inserted(propose(STAGE, given(of), prefix="")).message.text == "short"


def test_a_system_summary_behind_the_system_prompt_is_summarized_again() -> None:
    of = view(joined(system("be good"), *chat(20)))
    after = carried_out(of, propose(STAGE, given(of), role="system"))
    assert [m.role for m in after.messages][:3] == ["system", "system", "user"]
    more = tuple(message("user", *user(words(40)).parts, id=f"n{n}") for n in range(14))
    again = propose(STAGE, given(view((*after.messages, *more))), role="system")
    assert hidden(again)[0] == after.messages[1].id


def work(turns: int) -> tuple[Message, ...]:
    """Turns of a request, a read of a file and an answer that names it."""
    return joined(
        *(
            each
            for n in range(turns)
            for each in (
                user(f"Please look at module_{n}.py and {words(20)}."),
                call(f"c{n}", "Read", file_path=f"src/module_{n}.py"),
                result(f"c{n}", f"def load_table_{n}(first, second): ...\n{words(150)}"),
                assistant(f"The reason is that load_table_{n} ignores what is second."),
            )
        )
    )


@pytest.mark.parametrize("share", [0.5, 0.3, 0.15, 0.1])
def test_with_a_target_what_is_kept_makes_room_for_the_summary(share: float) -> None:
    """What did not fit was once truncated: then no summary covers it."""
    of = view(work(120))
    target = int(meter().total(of.messages) * share)
    of = replace(of, target=target)
    less = carried_out(of, propose(STAGE, of))
    assert meter().total(less.messages) <= target
    filled = carried_out(of, propose(STAGE, of, fill=True))
    assert target * 0.85 <= meter().total(filled.messages) <= target


def test_without_need_as_much_is_kept_as_the_options_say() -> None:
    of = view(work(120))
    exact = hidden(propose(STAGE, of))
    roomy = replace(of, target=meter().total(of.messages) - 10)
    assert hidden(propose(STAGE, roomy)) == exact


def test_for_a_smaller_target_the_originals_are_summarized_again() -> None:
    of = view(work(120))
    total = meter().total(of.messages)
    of = replace(of, target=total // 2)
    first = propose(STAGE, of, fill=True)
    originals = {inserted(first).message.id: tuple(of.messages[: len(hidden(first))])}
    smaller = replace(carried_out(of, first), target=total // 10)
    assert skipped(STAGE, smaller).reason == "nothing was added since the last summary"
    known = replace(smaller, originals=originals)
    again = carried_out(known, propose(STAGE, known))
    assert meter().total(again.messages) <= total // 10


@pytest.mark.parametrize(
    ("newest_kept", "stays"),
    [(assistant("done"), ["m2", "m3", "m4"]), (thinking("so it is", response_id="r2"), [])],
)
def test_the_newest_reasoning_is_kept_with_its_calls_and_their_results(
    newest_kept: Message, stays: list[str]
) -> None:
    messages = conversation(
        user(words(300)),
        assistant("I look"),
        thinking("where is it", response_id="r1"),
        replace(call("c", "Read", path="a"), response_id="r1"),
        result("c", words(100)),
        assistant(words(100)),
        user("and now?"),
        newest_kept,
    )
    options = {"keep_ratio": 0.0, "keep_min": 2, "min_messages": 1, "keep_reasoning": True}
    of = given(view(messages))
    ids = hidden(propose(STAGE, of, **options))
    assert [f"m{n}" for n in range(6) if f"m{n}" not in ids] == stays


def test_a_target_out_of_reach_is_come_near() -> None:
    of = view(work(120), target=10)
    after = carried_out(of, propose(STAGE, of))
    assert meter().total(after.messages) < 1_500


def test_for_a_target_out_of_reach_a_summary_is_written_once() -> None:
    options = STAGE.options(keep_ratio=0.0, keep_min=1, min_messages=1)
    steps = [StageStep(stage=STAGE, options=options)]
    asked = [user(f"Rename part_{n} to piece_{n} in src/file_{n}.py") for n in range(300)]
    messages = conversation(*asked, user(words(3_000)))
    first = run(view(messages, target=1_000, protected=["m300"]), steps, meter())
    assert first.stages[0].detail.count("messages summarized") == 1
    again = run(first.view, steps, meter())
    assert not again.edits
    assert "as short as is useful" in again.stages[0].detail


def requested(of: ConversationView, **options: object) -> SummaryRequest:
    """Return what a summarizer is asked for."""
    requests = []

    def summarizer(request: SummaryRequest, _: Callable[[str], int]) -> Summary:
        requests.append(request)
        return Summary(text="short", writer="model")

    propose(STAGE, replace(of, summarizer=summarizer), **options)
    [request] = requests
    return request


@pytest.mark.parametrize(
    ("overlap", "shown"), [(0, []), (1, ["m6"]), (2, ["m6", "m7"]), (9, ["m6", "m7", "m8", "m9"])]
)
def test_a_model_is_shown_the_first_messages_that_stay(overlap: int, shown: list[str]) -> None:
    request = requested(view(chat(10)), overlap=overlap)
    assert [m.id for m in request.messages] == [f"m{n}" for n in range(6)]
    assert [m.id for m in request.lookahead] == shown
    assert [m.id for m in request.following] == ["m6", "m7", "m8", "m9"]


@pytest.mark.parametrize(
    ("size", "options", "budget"),
    [
        (300, {"summary_tokens": 100}, 100),
        (300, {"summary_tokens": 5_000}, 6 * 301 // 2),
        (3_000, {"summary_tokens": 50_000}, 6 * 3_001 // 2),
    ],
)
def test_a_summary_gets_half_of_what_it_replaces_at_most(
    size: int, options: dict[str, int], budget: int
) -> None:
    assert requested(view(chat(10, size)), **options).budget == budget


def summarized(tokens: int, archive_hint: str = "") -> ConversationView:
    """Return ten messages of which six are behind a summary of so many words."""
    of = given(view(chat(10, 300)), words(tokens))
    proposal = propose(STAGE, of)
    return replace(
        carried_out(of, proposal),
        originals={inserted(proposal).message.id: of.messages[:6]},
        summary_inputs=SummaryInputs(archive_hint=archive_hint),
        target=2_500,
    )


def test_a_summary_of_a_summary_gets_nine_tenths_of_the_earlier_one_at_most() -> None:
    request = requested(summarized(700), summary_tokens=700)
    assert [m.id for m in request.messages] == [f"m{n}" for n in range(6)]
    assert request.budget == (meter().text(PREFIX) + 700) * 9 // 10


@pytest.mark.parametrize(
    ("tokens", "archive_hint", "stays"),
    [(600, False, True), (601, False, False), (690, True, True), (691, True, False)],
)
def test_a_summary_as_short_as_is_useful_stays(
    tokens: int,
    archive_hint: bool,  # noqa: FBT001 - a case of the table
    *,
    stays: bool,
) -> None:
    of = summarized(tokens, archive_hint=words(90))
    outcome = STAGE.propose(of, meter(), STAGE.options(archive_hint=archive_hint))
    reason = "the summary is already as short as is useful"
    assert (getattr(outcome, "reason", "") == reason) is stays


@pytest.mark.parametrize(("archive_hint", "end"), [(False, "short"), (True, "short\n\nsee there")])
def test_a_summary_ends_with_where_the_originals_are_if_that_is_asked_for(
    archive_hint: bool,  # noqa: FBT001 - a case of the table
    end: str,
) -> None:
    of = replace(
        view(chat(10)), summary_inputs=SummaryInputs(summary="short", archive_hint="see there")
    )
    proposal = propose(STAGE, of, archive_hint=archive_hint)
    assert inserted(proposal).message.text == f"{PREFIX}{end}"
