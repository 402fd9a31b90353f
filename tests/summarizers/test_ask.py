"""Why no answer came is said in one short line."""

import pytest

from compactctl.llm.ask import NoAnswerError


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("refused\n  at\tonce ", "refused at once"),
        ("a" * 200, "a" * 200),
        ("a" * 200 + "b", "a" * 200),
        ("key ghp_" + "a1" * 12 + " refused", "key [REDACTED:github-token] refused"),
    ],
)
def test_a_reason_is_one_line_of_at_most_200_letters(reason: str, line: str) -> None:
    assert str(NoAnswerError(reason)) == line
