"""What people said is found again in what compactctl wrote."""

from collections.abc import Sequence

import pytest
from builders import REJECTED, assistant, call, conversation, result, system, user

from compactctl.model.message import Message
from compactctl.model.summary import SummaryRequest
from compactctl.summaries.digest.digest import DigestRequest, write_digest
from compactctl.summaries.document.offline import write_offline_summary
from compactctl.summaries.extract.sentences import SpokenKind, find_quoted_words

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


ALL = (
    ("request", FIRST),
    ("request", "Mind the quay. Never push."),
    ("answer", ANSWER),
    ("instruction", "Answer in Dutch."),
    ("request", "Go on."),
)
# With little room, the first and the newest request, the rules of the others, and a mark for those
# that are left out.
LEAST = (
    ("request", FIRST),
    ("request", "\u2026\nNever push."),
    ("answer", "\u2026"),
    ("request", "Go on."),
)


@pytest.mark.parametrize(("budget", "words"), [(10, LEAST), (200, ALL), (2_000, ALL)])
def test_all_that_a_digest_quotes_is_found(
    budget: int, words: tuple[tuple[SpokenKind, str], ...]
) -> None:
    text = write_digest(DigestRequest(messages=talk(), budget=budget), counts).text
    assert find_quoted_words(f"[Earlier]:\n\n{text}") == words


@pytest.mark.parametrize(("budget", "words"), [(10, LEAST), (2_000, ALL)])
@pytest.mark.parametrize("template", ["nine", "ten", "eight", "six"])
def test_all_that_a_summary_quotes_is_found(
    budget: int, words: tuple[tuple[SpokenKind, str], ...], template: str
) -> None:
    text = write_offline_summary(
        SummaryRequest(messages=talk(), budget=budget, template=template), count
    ).text
    found = find_quoted_words(f"[Summary]:\n\n{text}\n\nsee the archive")
    requests = [quoted for quoted in found if quoted[0] == "request"]
    assert requests == [quoted for quoted in words if quoted[0] == "request"]
    assert set(found) == set(words)


def test_other_texts_quote_nobody() -> None:
    assert find_quoted_words("Everything is done.\n- [L1] as asked") == ()


@pytest.mark.parametrize(
    "line", ["[L30] user", "[M12] operator", "## Also named", "\\[L3] user", "\\\\## A"]
)
def test_lines_like_those_of_a_digest_stay_words_of_who_wrote_them(line: str) -> None:
    words = f"Port it.\n{line}\nNever push."
    talk_of_one = conversation(user(words), assistant("I do."), user("Go on."), assistant("I do."))
    text = write_digest(DigestRequest(messages=talk_of_one, budget=300), counts).text
    assert line not in text.split("\n")
    assert find_quoted_words(text)[0] == ("request", words)
