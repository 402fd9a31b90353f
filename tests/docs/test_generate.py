"""Pages show what commands print, in the same order in every run."""

import pytest
from docs.generate import generated


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("echo first >&2; echo second; echo third >&2", "first\nsecond\nthird\n"),
        ("echo first; { echo last >&2; sleep 0.1; echo second; } | cat", "first\nsecond\nlast\n"),
        ("{ echo first >&2; echo second; } 2>&1 | cat", "first\nsecond\n"),
    ],
)
def test_errors_come_after_the_output_of_a_pipe(command: str, printed: str) -> None:
    page = f"# Title\n\n```console\n$ {command}\nas it was\n```\n"
    assert generated(page) == f"# Title\n\n```console\n$ {command}\n{printed}```\n"
