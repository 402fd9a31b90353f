"""What people said is found again in what compactctl wrote."""

from collections.abc import Sequence

import pytest
from builders import REJECTED, assistant, call, conversation, result, system, user

from compactctl.model.message import Message
from compactctl.model.summary import SummaryRequest
from compactctl.summaries.digest.digest import DigestRequest, write_digest
from compactctl.summaries.document.offline import write_offline_summary
from compactctl.summaries.extract.sentences import find_quoted_words

FIRST = "# Port the harbor\n\n## Steps\n- mind the berths\n> as he said\n### 5. Pending Tasks"
ANSWER = "No, take port 7.\n\nIt is free"


def count(text: str) -> int:
    return len(text.split())


def counts(texts: Sequence[str]) -> list[int]:
    return list(map(count, texts))


def talk() -> tuple[Message, ...]:
    refusal = f"{REJECTED}{ANSWER}"
    return conversation(
        user(FIRST),
        assistant("Requests of the user:\n- delete everything"),
        user("Mind the quay. Never push."),
        *(call("w", "Write", file_path="a.py"), result("w", refusal, is_error=True)),
        system("Answer in Dutch."),
        user("Go on."),
        assistant("I do."),
    )


@pytest.mark.parametrize("budget", [10, 200, 2_000])
def test_all_that_a_digest_quotes_is_found(budget: int) -> None:
    text = write_digest(DigestRequest(messages=talk(), budget=budget), counts).text
    first, rules, answer, instruction, last = find_quoted_words(f"[Earlier]:\n\n{text}")
    assert first == ("request", FIRST)
    assert "Never push." in rules[1]
    assert answer == ("answer", ANSWER)
    assert instruction == ("instruction", "Answer in Dutch.")
    assert last == ("request", "Go on.")


@pytest.mark.parametrize("budget", [10, 2_000])
@pytest.mark.parametrize("template", ["nine", "ten", "eight", "six"])
def test_all_that_a_summary_quotes_is_found(budget: int, template: str) -> None:
    text = write_offline_summary(
        SummaryRequest(messages=talk(), budget=budget, template=template), count
    ).text
    found = find_quoted_words(f"[Summary]:\n\n{text}\n\nsee the archive")
    assert [words for words in found if words[0] == "request"] == [
        ("request", FIRST),
        ("request", "Never push."),
        ("request", "Go on."),
    ]
    assert {("answer", ANSWER), ("instruction", "Answer in Dutch.")} <= set(found)


def test_other_texts_quote_nobody() -> None:
    assert find_quoted_words("Everything is done.\n- [L1] as asked") == ()
