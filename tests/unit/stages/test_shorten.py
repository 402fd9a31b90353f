import pytest
from builders import (
    assistant,
    call,
    call_part,
    conversation,
    message,
    result,
    summary,
    system,
    user,
)
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from unit.stages.support.trials import (
    carried_out,
    meter,
    propose,
    rewritten,
    skipped,
    skips,
    view,
    words,
)

from compactctl.model.edit import Proposal, groups_of
from compactctl.model.message import MediaPart, Message, TextPart
from compactctl.stages.shorten import STAGE


def chat(*sizes: int) -> tuple[Message, ...]:
    return conversation(*(assistant(words(size)) for size in sizes))


def sizes(messages: tuple[Message, ...]) -> list[int]:
    return [meter().message(each) for each in messages]


def test_without_a_target_there_is_nothing_to_reach() -> None:
    outcome = skipped(STAGE, view(chat(900)))
    assert outcome.detail == "set one with --target"


def test_what_fits_stays() -> None:
    assert "already within" in skipped(STAGE, view(chat(500, 500), target=1_000)).reason


# NeuroLink threw its work away here: its marks made 3,008 tokens of 3,000.
def test_four_long_messages_fit_with_their_marks() -> None:
    of = view(chat(1_000, 1_000, 1_000, 1_000), target=3_000)
    proposal = propose(STAGE, of)
    assert sizes(carried_out(of, proposal).messages) == [750] * 4
    assert proposal.notes == ("texts cut to 750 tokens: 4",)
    assert all(text.endswith("word...") for text in rewritten(proposal).values())


def test_the_same_messages_cut_further_are_another_group() -> None:
    messages = chat(1_000, 1_000)
    groups = {groups_of(propose(STAGE, view(messages, target=n)).edits)[0] for n in (1_500, 1_000)}
    assert len(groups) == 2


@pytest.mark.parametrize(
    ("target", "left"),
    [
        (1_900, [1_300, 300, 200, 100]),
        (1_000, [400, 300, 200, 100]),
        (800, [250, 250, 200, 100]),
        (700, [200, 200, 200, 100]),
        (500, [200, 200, 200, 100]),
    ],
)
def test_the_longest_are_cut_first_and_none_below_the_minimum(target: int, left: list[int]) -> None:
    of = view(chat(1_400, 300, 200, 100), target=target)
    after = carried_out(of, propose(STAGE, of))
    assert sizes(after.messages) == left
    assert skips(STAGE, after)


def test_what_cannot_fit_is_reported() -> None:
    proposal = propose(STAGE, view(chat(900, 100), target=200))
    assert proposal.notes == ("texts cut to 200 tokens: 1; still over the target",)
    outcome = skipped(STAGE, view(chat(200, 100), target=200))
    assert outcome.detail == "lower it with --shorten-min-tokens"
    assert rewritten(propose(STAGE, view(chat(200, 100), target=200), min_tokens=50))


def test_only_what_people_the_model_and_tools_said_is_cut() -> None:
    shot = MediaPart(media_type="application/pdf", n_bytes=0)
    messages = conversation(
        system(words(90)),
        summary(words(90)),
        user(words(90), is_injected=True),
        user(words(90), immutable_reason="signed"),
        user(words(90)),
        message("user", TextPart(text=words(90), embedded=True)),
        message("assistant", TextPart(text=words(90)), call_part("a", "Bash")),
        result("a", words(90)),
        call("b", "Bash"), result("b", words(90), media=(shot,)),
        call("c", "Bash"), result("c", words(90), cleared=True),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages, protected=["m4"], target=10), min_tokens=30)
    assert list(rewritten(proposal)) == ["m6", "m7"]


def test_words_that_last_are_never_cut() -> None:
    rule = f"Never write to the harbor table.\n{words(90)}"
    messages = conversation(
        *(user(words(90, "a")), user(words(90, "b")), user(rule), user(words(90, "c"))),
        *(user(words(90, "d")), user(words(90, "e"))),
        call("a", "Bash"), result("a", words(90), is_error=True, said=words(80)),
    )  # fmt: skip
    assert list(rewritten(propose(STAGE, view(messages, target=10), min_tokens=30))) == [
        "m1",
        "m3",
        "m4",
    ]


def test_a_text_ends_with_a_sentence() -> None:
    text = "It was found. " + words(300) + ". And then it went on. " + words(90)
    proposal = propose(STAGE, view(conversation(assistant(text)), target=320))
    assert rewritten(proposal)["m0"].endswith("word. And then it went on. ...")


@tries(80)
@given(
    lengths=st.lists(st.integers(0, 60), max_size=8),
    target=st.integers(1, 300),
    least=st.integers(1, 20),
)
def test_the_target_fits_or_everything_is_at_the_minimum(
    lengths: list[int], target: int, least: int
) -> None:
    of = view(chat(*lengths), target=target)
    outcome = STAGE.propose(of, meter(), STAGE.options(min_tokens=least))
    after = carried_out(of, outcome) if isinstance(outcome, Proposal) else of
    left = sizes(after.messages)
    assert sum(left) <= target or max(left) <= least
    assert all(now == was for now, was in zip(left, lengths, strict=True) if was <= least)
