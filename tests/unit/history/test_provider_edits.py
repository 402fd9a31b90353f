import pytest
from builders import assistant, call, conversation, definition, result, system, thinking, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.provider_edits import as_read
from compactctl.model.message import Clearing, Message, ReasoningPart, ReportedUsage, TextPart
from compactctl.records import replace


def steps(n: int, tool: str = "Bash") -> list[Message]:
    return [m for k in range(n) for m in (call(f"c{k}", tool, n=k), result(f"c{k}", f"text {k}"))]


def answered(*messages: Message, clearing: Clearing) -> tuple[Message, ...]:
    usage = ReportedUsage(context=9)
    *earlier, newest = conversation(*messages, assistant("done"))
    earlier = [replace(m, usage=usage) if m.role == "assistant" else m for m in earlier]
    return (*earlier, replace(newest, clearing=clearing, usage=usage))


def results(messages: tuple[Message, ...]) -> list[str]:
    return [part.text for message in messages for part in message.results]


@given(st.integers(0, 6), st.integers(0, 8), st.integers(0, 6))
def test_the_oldest_results_are_cleared_and_the_newest_stay(
    n: int, n_cleared: int, kept: int
) -> None:
    clearing = Clearing(tool_uses=n_cleared, kept_tool_uses=kept)
    messages = answered(user("go"), *steps(n), clearing=clearing)
    read = as_read(messages)
    cleared = min(n_cleared, max(0, n - kept))
    assert [part.cleared for m in read for part in m.results] == [
        index < cleared for index in range(n)
    ]
    assert results(read)[cleared:] == results(messages)[cleared:]
    # Older reports describe what was there before.
    assert [m.usage is not None for m in read if m.role == "assistant"] == [False] * n + [True]


def test_excluded_tools_stay_and_arguments_are_cleared_where_the_request_says_so() -> None:
    calls = [call("a", "Read", f=1), result("a", "A"), call("b", "Bash", f=2), result("b", "B")]
    clearing = Clearing(tool_uses=2, spared_tools=frozenset({"Read"}), input_tools=None)
    read = as_read(answered(user("go"), *calls, clearing=clearing))
    assert results(read)[0] == "A" != results(read)[1] != "B"
    assert [part.arguments for m in read for part in m.calls] == ['{"f": 1}', "{}"]


def test_the_reasoning_of_the_oldest_turns_is_cleared() -> None:
    first = [user("a"), thinking("x"), *steps(1), thinking("y")]
    second = [user("b"), thinking("z")]
    clearing = Clearing(thinking_turns=1, kept_turns=1)
    read = as_read(answered(*first, *second, user("c"), clearing=clearing))
    texts = [p.text for m in read for p in m.parts if isinstance(p, ReasoningPart)]
    assert texts == ["", "", "z"]


def test_the_newest_answer_decides() -> None:
    earlier = answered(user("go"), *steps(4), clearing=Clearing(tool_uses=2))
    messages = conversation(*earlier, user("on"), assistant("done"))
    assert as_read(messages) == messages


@pytest.mark.parametrize("n_after", [0, 2])
def test_only_the_system_prompt_and_the_summary_precede_what_follows(n_after: int) -> None:
    summary = TextPart(text="Summary", is_summary=True, is_compaction=True)
    old = replace(summary, text="older summary")
    after = [user("on"), assistant("done")][:n_after]
    messages = conversation(
        definition("run", "runs"), system("be kind"), user("go"), assistant("x"), *after
    )
    blocks = (TextPart(text="before"), old, summary, TextPart(text="behind"))
    messages = (*messages[:3], replace(messages[3], parts=blocks), *messages[4:])
    read = as_read(messages)
    assert [m.id for m in read] == [m.id for m in (*messages[:2], *messages[3:])]
    assert read[2].parts == (summary, TextPart(text="behind"))
