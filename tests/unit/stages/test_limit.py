import pytest
from builders import call, conversation, result, user
from unit.stages.support.trials import (
    carried_out,
    meter,
    propose,
    reasons,
    rewritten,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.reads import stub_for
from compactctl.model.message import MediaPart, Message
from compactctl.stages.limit import STAGE


def results(*texts: str, tool: str = "Bash") -> tuple[Message, ...]:
    pairs = ((call(f"c{n}", tool), result(f"c{n}", text)) for n, text in enumerate(texts))
    return conversation(*(m for pair in pairs for m in pair))


def test_only_results_over_a_limit_are_cut() -> None:
    of = view(results("x " * 25_601, "x " * 25_600, "y\n" * 2_001, "y\n" * 2_000))
    proposal = propose(STAGE, of, marker="[{original} {kept} {omitted}]")
    cut = rewritten(proposal)
    assert list(cut) == ["m1", "m5"]
    assert len(cut["m1"]) == 51_200
    assert "\n[51202 51182 20]\n" in cut["m1"]
    assert proposal.notes == ("tool results cut: 2",)
    assert reasons(proposal) == [
        "larger than 51,200 bytes",
        "larger than 2,000 lines",
    ]


def test_prose_is_never_cut() -> None:
    outcome = skipped(STAGE, view(conversation(user("x" * 60_000))))
    assert outcome.reason == "no tool result that can be truncated is over a limit"


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        ({"max_tokens": 30}, 30),
        ({"share": 0.2}, 40),
        ({"share": 0.2, "max_tokens": 30}, 30),
        ({"share": 0.2, "max_tokens": 60}, 40),
    ],
)
def test_tokens_are_limited_as_such_or_as_a_share_of_the_window(
    options: dict[str, float], tokens: int
) -> None:
    proposal = propose(STAGE, view(results(words(500)), window=200), **options)
    assert meter().text(rewritten(proposal)["m1"]) == tokens


def test_half_the_window_is_the_default_and_no_window_no_limit() -> None:
    of = results(words(500))
    assert rewritten(propose(STAGE, view(of, window=999)))
    assert skips(STAGE, view(of, window=1_000))
    assert skips(STAGE, view(of))
    assert skips(STAGE, view(of, window=10), share=0.0)


def test_the_notice_of_copilot_is_one_of_the_templates() -> None:
    marker = "[Tool response was too long and was truncated.]"
    proposal = propose(STAGE, view(results(words(500))), max_tokens=50, marker=marker)
    head, found, tail = rewritten(proposal)["m1"].split("\n")
    assert found == marker
    assert (len(head.split()), len(tail.split())) == (17, 25)


@pytest.mark.parametrize(
    ("options", "cut"),
    [
        ({"tools": ("bash",)}, ["m1"]),
        ({"tools": ("Read",)}, ["m3"]),
        ({"protect_tools": ("BASH",)}, ["m3", "m5"]),
        ({"protect_tools": ()}, ["m1", "m3", "m5"]),
    ],
)
def test_tools_are_chosen_and_spared_by_name(options: dict[str, object], cut: list[str]) -> None:
    messages = conversation(
        call("a", "Bash"), result("a", words(90)),
        call("b", "Read", file_path="a.py"), result("b", words(90)),
        call("c", "Skill"), result("c", words(90)),
    )  # fmt: skip
    assert list(rewritten(propose(STAGE, view(messages), max_tokens=20, **options))) == cut


def test_what_must_stay_whole_does() -> None:
    shot = MediaPart(media_type="image/png", n_bytes=9)
    messages = conversation(
        call("a", "Bash"), result("a", words(90)),
        call("b", "Bash"), result("b", words(90), cleared=True),
        call("c", "Shot"), result("c", words(90), media=(shot,)),
        call("d", "Read", file_path="a.py"), result("d", stub_for("a.py")),
        call("e", "Read", file_path="a.py"), result("e", words(90)),
        call("f", "Bash"), result("f", words(90)),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages, protected=["m1"]), max_tokens=20)
    assert list(rewritten(proposal)) == ["m11"]


@pytest.mark.parametrize("direction", ["head", "tail", "both"])
def test_a_second_run_finds_nothing(direction: str) -> None:
    options = {"max_tokens": 40, "max_lines": 3, "direction": direction}
    of = view(results(words(90), "a\n" * 90, words(40)))
    after = carried_out(of, propose(STAGE, of, **options))
    assert skips(STAGE, after, **options)
