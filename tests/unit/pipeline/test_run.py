"""Stages in order: where they stop, what is refused, and that they come to rest."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from builders import (
    assistant,
    call,
    call_part,
    conversation,
    message,
    result,
    result_part,
    user,
)
from unit.pipeline.edits import hide, insert, rewrite
from unit.stages.support.trials import meter, view, words

from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Edit, Proposal, Replace, SkippedStage
from compactctl.model.message import Message, Role, TextPart
from compactctl.model.summary import Summarizer, Summary
from compactctl.pipeline.gaps import GAP_TEXT
from compactctl.pipeline.run import PipelineRun, StageStep, run
from compactctl.records import Record, replace
from compactctl.stages.registry import stage_named
from compactctl.stages.support.stage import Stage
from compactctl.tokens.meter import Meter

Propose = Callable[[ConversationView], Proposal | SkippedStage]


class NoOptions(Record):
    """Options of a made-up stage."""


def made_up(name: str, propose: Propose) -> StageStep[Any]:
    """Make a stage of a function that proposes edits."""

    def with_options(
        of: ConversationView, _meter: Meter, _options: NoOptions
    ) -> Proposal | SkippedStage:
        return propose(of)

    return StageStep(
        stage=Stage(name=name, title=name, options=NoOptions, propose=with_options),
        options=NoOptions(),
    )


def hiding(name: str, *ids: str) -> StageStep[Any]:
    """Make a stage that hides these messages for nothing in return, if one is there."""

    def propose(of: ConversationView) -> Proposal | SkippedStage:
        left = [m.id for m in of.messages if m.id in ids]
        if not left:
            return SkippedStage(stage=name, reason="nothing left", detail="see --help")
        return Proposal(stage=name, edits=(hide(*left, group=f"of {name}"),), notes=(name,))

    return made_up(name, propose)


def real(name: str, **options: object) -> StageStep[Any]:
    """Return a stage of the program with options."""
    stage = stage_named(name)
    return StageStep(stage=stage, options=stage.options(**options))


def outcomes(result: PipelineRun) -> list[str]:
    return [record.outcome for record in result.stages]


TALK = conversation(*(user(words(10)) if n % 2 else assistant(words(10)) for n in range(8)))


def test_stages_see_what_earlier_ones_left() -> None:
    found = run(view(TALK), [hiding("one", "m0"), hiding("two", "m1", "m0")], meter())
    assert [m.id for m in found.view.messages] == [f"m{n}" for n in range(2, 8)]
    assert [(r.tokens_before, r.tokens_after, r.hidden) for r in found.stages] == [
        (80, 70, 1),
        (70, 60, 1),
    ]
    assert found.groups == {"of one": "one", "of two": "two"}
    assert [record.detail for record in found.stages] == ["one", "two"]


def test_with_a_target_later_stages_are_not_needed() -> None:
    found = run(view(TALK, target=70), [hiding("one", "m0"), hiding("two", "m1")], meter())
    assert outcomes(found) == ["applied", "not-needed"]
    assert "within the target of 70" in found.stages[1].detail


def test_a_skipped_stage_says_why_and_what_changes_that() -> None:
    found = run(view(TALK), [hiding("one", "x")], meter())
    assert outcomes(found) == ["skipped"]
    assert found.stages[0].detail == "nothing left; see --help"
    assert found.edits == ()


@pytest.mark.parametrize("text", [words(11), words(10)])
def test_a_stage_that_does_not_shrink_the_context_is_rolled_back(text: str) -> None:
    grow = made_up("grow", lambda _: Proposal(stage="grow", edits=(rewrite("m0", text),)))
    found = run(view(TALK), [grow], meter())
    assert outcomes(found) == ["rolled-back"]
    assert "would not shrink the context" in found.stages[0].detail
    assert found.view.messages == TALK
    assert found.edits == ()


def test_a_stage_that_parts_a_call_from_its_result_is_rolled_back() -> None:
    talk = conversation(user("x"), call("c", "Read", path="a"), result("c", words(9)))
    found = run(view(talk), [hiding("one", "m1")], meter())
    assert outcomes(found) == ["rolled-back"]
    assert "separate 1 tool calls" in found.stages[0].detail


def test_a_stage_that_also_rewrites_is_rolled_back_as_well() -> None:
    talk = conversation(user(words(9)), call("c", "Read", path="a"), result("c", words(9)))
    both = made_up(
        "both", lambda _: Proposal(stage="both", edits=(rewrite("m0", "short"), hide("m1")))
    )
    assert outcomes(run(view(talk), [both], meter())) == ["rolled-back"]


def test_pairs_that_were_parted_before_do_not_stop_a_stage() -> None:
    talk = conversation(user("x"), result("lost", words(9)), assistant(words(9)))
    assert outcomes(run(view(talk), [hiding("one", "m2")], meter())) == ["applied"]


def test_stages_run_again_until_they_find_nothing_more() -> None:
    after_two = made_up(
        "after two",
        lambda of: (
            SkippedStage(stage="after two", reason="not yet")
            if any(m.id in {"m1", "m2"} for m in of.messages)
            else hiding("after two", "m2", "m3").stage.propose(of, meter(), NoOptions())
        ),
    )
    found = run(view(TALK), [after_two, hiding("two", "m1", "m2")], meter())
    assert outcomes(found) == ["applied", "applied"]
    assert [m.id for m in found.view.messages] == ["m0", "m4", "m5", "m6", "m7"]
    assert sum(record.tokens_saved for record in found.stages) == 30
    assert run(found.view, [after_two, hiding("two", "m1", "m2")], meter()).edits == ()


def test_what_a_stage_does_in_several_rounds_is_added_up() -> None:
    def one_by_one(of: ConversationView) -> Proposal | SkippedStage:
        left = [m.id for m in of.messages if m.id in {"m0", "m1", "m2"}]
        edits = (hide(*left[:1], group=f"g{left[0]}"),) if left else ()
        return Proposal(stage="s", edits=edits) if left else SkippedStage(stage="s", reason="done")

    (record,) = run(view(TALK), [made_up("s", one_by_one)], meter()).stages
    assert (record.hidden, record.tokens_saved, record.group) == (3, 30, "gm0")


def failures(count: int) -> ConversationView:
    """A conversation in which a command fails again and again, each time with another error."""
    steps = [
        each
        for n in range(count)
        for each in (
            call(f"c{n}", "Bash", command=f"make part_{n}"),
            result(f"c{n}", f"{words(60)}\nError: target_{n} has no rule", is_error=True),
        )
    ]
    talk = conversation(user("Mend the build."), *steps, assistant("Done."))
    return view(talk, protected=[m.id for m in talk[-3:]])


def told(result: PipelineRun) -> str:
    """Return the summary in a view."""
    (part,) = (part for m in result.view.messages if m.origin.is_summary for part in m.parts)
    assert isinstance(part, TextPart)
    return part.text


@pytest.mark.parametrize("rewriting", ["prune", "microcompact", "limit", "strip"])
def test_what_is_summarized_is_not_rewritten_before(rewriting: str) -> None:
    options = {
        "prune": {"protect_tokens": 0, "min_savings": 0},
        "microcompact": {"keep_recent": 0},
        "limit": {"max_tokens": 10},
        "strip": {"over": 10},
    }
    summarize = real("summarize", keep_min=2, keep_ratio=0.1)
    alone = run(failures(14), [summarize], meter())
    after = run(failures(14), [real(rewriting, **options[rewriting]), summarize], meter())
    assert after.view.messages == alone.view.messages
    assert "target_0 has no rule" in told(after)
    assert outcomes(after) == ["skipped", "applied"]
    assert "a later stage hides what it would" in after.stages[0].detail


def cutting(*ids: str) -> StageStep[Any]:
    """Make a stage that shortens these messages unless a later one replaces them."""

    def propose(of: ConversationView) -> Proposal | SkippedStage:
        names = [m.id for m in of.messages if m.id in ids and m.id not in of.to_be_summarized]
        edits = tuple(
            rewrite(m.id, "cut", group="of cut")
            for m in of.messages
            if m.id in names and str(m.parts[0]) != str(TextPart(text="cut"))
        )
        if not edits:
            return SkippedStage(stage="cut", reason="nothing left", detail="see --help")
        return Proposal(stage="cut", edits=edits)

    return made_up("cut", propose)


def filling(seen: list[list[str]], *ids: str) -> StageStep[Any]:
    """Make a stage that fills its target by hiding these messages, and notes what it is shown."""
    step = hiding("fill", *ids)

    def propose(of: ConversationView, meter: Meter, options: NoOptions) -> Proposal | SkippedStage:
        seen.append([part.text for m in of.messages for part in m.parts])  # type: ignore[union-attr]
        return step.stage.propose(of, meter, options)

    return replace(step, stage=replace(step.stage, propose=propose, fills_target=True))


def test_what_is_hidden_to_fill_a_target_is_not_rewritten_before() -> None:
    seen: list[list[str]] = []
    found = run(view(TALK, target=60), [cutting("m1", "m2"), filling(seen, "m1", "m2")], meter())
    assert ["cut" in texts for texts in seen] == [False]
    assert outcomes(found) == ["skipped", "applied"]
    assert found.stages[0].detail == "a later stage hides what it would replace"
    assert found.stages[1].tokens_before == meter().total(TALK)


def test_what_reaches_the_target_alone_leaves_nothing_to_fill() -> None:
    seen: list[list[str]] = []
    found = run(view(TALK, target=65), [cutting("m1", "m2"), filling(seen, "m1", "m2")], meter())
    assert outcomes(found) == ["applied", "not-needed"]
    assert seen == []


def test_what_stays_when_a_target_is_filled_is_rewritten_before() -> None:
    seen: list[list[str]] = []
    found = run(view(TALK, target=60), [cutting("m1", "m4"), filling(seen, "m1", "m2")], meter())
    assert ["cut" in texts for texts in seen[:2]] == [False, True]
    assert outcomes(found) == ["applied", "applied"]
    assert [m.id for m in found.view.messages if m.parts[0] == TextPart(text="cut")] == ["m4"]


def test_a_summary_tells_what_was_truncated_before() -> None:
    truncate = real("truncate", fraction=0.6, keep_first=1)
    summarize = real("summarize", keep_min=2, keep_ratio=0.1)
    found = run(failures(60), [truncate, summarize], meter())
    assert outcomes(found) == ["applied", "applied"]
    assert "target_0 has no rule" in told(found)


def reads(*texts: str) -> ConversationView:
    """A conversation in which one file is read again and again."""
    steps = [
        message
        for n, text in enumerate(texts)
        for message in (call(f"c{n}", "Read", file_path="a.py"), result(f"c{n}", text))
    ]
    return view(conversation(user("go"), *steps, assistant("done")), protected=["m0"])


def referring(edits: Sequence[Edit]) -> list[Replace]:
    """Return the edits whose text points the reader to another message."""
    return [edit for edit in edits if isinstance(edit, Replace) and edit.refers_to]


def test_a_stub_never_refers_to_a_read_that_a_later_stage_drops() -> None:
    of = reads(words(30), words(30), words(30))
    kept = run(of, [real("dedup")], meter())
    assert kept.stages[0].replaced == 2
    dropped = run(of, [real("dedup"), hiding("drop", "m5", "m6")], meter())
    shown = {m.id: m for m in dropped.view.messages}
    assert "m6" not in shown
    assert dropped.stages[1].outcome == "applied"
    assert all(stub.refers_to in shown for stub in referring(dropped.edits))


def test_a_stub_may_refer_to_a_read_that_an_earlier_stage_cut() -> None:
    first = run(reads(words(90), words(90)), [real("limit", max_tokens=40), real("dedup")], meter())
    assert [record.replaced for record in first.stages] == [2, 1]
    again = run(first.view, [real("limit", max_tokens=40), real("dedup")], meter())
    assert again.edits == ()


def test_a_stub_never_refers_to_a_read_that_a_later_stage_cuts() -> None:
    of = reads(words(90), words(90))
    edits = run(of, [real("dedup"), real("limit", max_tokens=40)], meter()).edits
    last = {edit.id: place for place, edit in enumerate(edits) if isinstance(edit, Replace)}
    (stub,) = referring(edits)
    assert stub.refers_to is not None
    assert last.get(stub.refers_to, -1) < last[stub.id]


def test_parallel_reads_may_refer_to_and_be_referred_to() -> None:
    def both(n: int) -> list[Message]:
        calls = [call_part(f"{name}{n}", "Read", file_path=name) for name in ("a.py", "b.py")]
        results = [result_part(f"{name}{n}", words(40)) for name in ("a.py", "b.py")]
        return [message("assistant", *calls), message("tool", *results)]

    single = (call("c", "Read", file_path="b.py"), result("c", words(40)))
    talk = conversation(user("go"), *both(0), *both(1), *single, assistant("done"))
    stubs = run(view(talk), [real("dedup")], meter()).edits
    assert [getattr(edit, "refers_to", None) for edit in stubs] == ["m4", "m6", "m6"]


def test_stubs_that_go_with_what_they_refer_to_are_no_reason_to_run_again() -> None:
    found = run(
        reads(words(30), words(30)), [real("dedup"), hiding("all", "m1", "m2", "m3", "m4")], meter()
    )
    assert outcomes(found) == ["applied", "applied"]


def test_what_a_stage_writes_is_counted() -> None:
    def swap(of: ConversationView) -> Proposal | SkippedStage:
        if of.messages[0].id != "m0":
            return SkippedStage(stage="swap", reason="done")
        return Proposal(stage="swap", edits=(insert("m0", words(12)), hide("m0", "m1")))

    (record,) = run(view(TALK), [made_up("swap", swap)], meter()).stages
    assert (record.tokens_before, record.tokens_after) == (80, 72)


# What is left of ten messages of one token each, after a stage that hides so many of them.
def alternatives(*counts: int, target: int) -> PipelineRun:
    messages = conversation(*(user("a") for _ in range(10)))
    ids = [message.id for message in messages]
    steps = [
        replace(hiding(f"hide{count}", *ids[:count]), falls_back=True) for count in counts[:-1]
    ]
    steps.append(hiding(f"hide{counts[-1]}", *ids[: counts[-1]]))
    return run(replace(view(messages), target=target), steps, meter())


@pytest.mark.parametrize(
    ("counts", "target", "told", "left"),
    [
        ((6, 8), 5, ["applied", "not-needed"], 4),
        ((5, 8), 5, ["applied", "not-needed"], 5),
        ((2, 6, 8), 5, ["rolled-back", "applied", "not-needed"], 4),
        ((2, 4, 3), 1, ["rolled-back", "applied", "rolled-back"], 6),
        ((0, 8), 5, ["skipped", "applied"], 2),
    ],
)
def test_of_alternatives_the_first_that_fits_wins_else_the_smallest(
    counts: tuple[int, ...], target: int, told: list[str], left: int
) -> None:
    result = alternatives(*counts, target=target)
    assert outcomes(result) == told
    assert len(result.view.messages) == left
    assert sum(record.tokens_saved for record in result.stages) == 10 - left


def test_what_is_taken_back_is_said() -> None:
    result = alternatives(2, 6, target=5)
    assert result.stages[0].detail == "it does not fit with 8 tokens; hide6 leaves 4"


@pytest.mark.parametrize(
    ("extra", "told"), [(0, "rolled-back"), (2, "rolled-back"), (3, "applied")]
)
def test_an_alternative_may_have_a_larger_target_of_its_own(extra: int, told: str) -> None:
    ids = [f"m{n}" for n in range(10)]
    first = replace(hiding("some", *ids[:2]), extra_tokens=extra, falls_back=True)
    messages = conversation(*(user("a") for _ in range(10)))
    result = run(replace(view(messages), target=5), [first, hiding("more", *ids[:6])], meter())
    assert outcomes(result)[0] == told


def test_a_step_may_have_a_larger_target_of_its_own() -> None:
    ids = [f"m{n}" for n in range(10)]
    steps = [replace(hiding("some", *ids[:2]), extra_tokens=5), hiding("more", *ids[:6])]
    messages = conversation(*(user("a") for _ in range(10)))
    result = run(replace(view(messages), target=5), steps, meter())
    assert outcomes(result) == ["not-needed", "applied"]


@pytest.mark.parametrize(
    ("always", "expected"),
    [(False, ["not-needed", "not-needed"]), (True, ["applied", "not-needed"])],
)
def test_a_step_that_always_runs_does_so_within_the_target(
    *, always: bool, expected: list[str]
) -> None:
    ids = [f"m{n}" for n in range(10)]
    steps = [replace(hiding("some", *ids[:2]), always=always), hiding("more", *ids[:6])]
    messages = conversation(*(user("a") for _ in range(10)))
    assert outcomes(run(replace(view(messages), target=10), steps, meter())) == expected


def with_gaps(
    *targets: int, target: int, summarizer: Summarizer | None = None
) -> tuple[PipelineRun, list[int | None]]:
    """Hide messages of the assistant down to a target, for an API that wants one between users.

    The stage refuses each target that is not among ``targets``. What it was asked for is returned
    as well.
    """
    asked: list[int | None] = []

    def propose(of: ConversationView) -> Proposal | SkippedStage:
        asked.append(of.target)
        if of.target not in targets:
            return SkippedStage(stage="hide", reason="not that")
        count = -(-(80 - of.target) // 10)
        return Proposal(stage="hide", edits=(hide(*[f"m{2 * n}" for n in range(1, count + 1)]),))

    def between(first: Message, second: Message) -> tuple[Role, ...]:
        return ("assistant",) if first.role == second.role == "user" else ()

    of = view(TALK, target=target, roles_between=between, summarizer=summarizer)
    return run(of, [made_up("hide", propose)], meter()), asked


GAP = len(GAP_TEXT.split())


@pytest.mark.parametrize(
    ("targets", "target", "asked", "hidden"),
    [
        # One message of 10 tokens goes and one of 6 comes: that is above 70, and not above 76.
        ((76,), 76, [76], 1),
        ((70, 70 - GAP), 70, [70, 70 - GAP], 2),
        ((70,), 70, [70, 70 - GAP], 1),
    ],
)
def test_messages_that_an_api_wants_count_towards_the_target(
    targets: tuple[int, ...], target: int, asked: list[int], hidden: int
) -> None:
    result, found = with_gaps(*targets, target=target)
    assert found[: len(asked)] == asked
    assert result.stages[0].hidden == hidden
    assert result.stages[0].tokens_after == 80 - hidden * (10 - GAP)
    gaps = [m for m in result.view.messages if m.parts == (TextPart(text=GAP_TEXT),)]
    assert [m.role for m in gaps] == ["assistant"] * hidden


def test_a_stage_that_asks_a_summarizer_is_not_asked_for_less_on_account_of_such_messages() -> None:
    result, found = with_gaps(70, target=70, summarizer=lambda *_: Summary(text="in short"))
    assert set(found) == {70}
    assert result.stages[0].tokens_after > 70
