"""Overheads that are too large to be system prompt and tool definitions."""

import pytest

from compactctl.clients.sizes import client_sizes


@pytest.mark.parametrize(
    ("format_name", "overhead", "first", "missing"),
    [
        ("claude-code", 43_000, None, 0),
        ("claude-code", 115_000, 20_000, 0),
        ("claude-code", 154_000, 41_000, 113_000),
        ("claude-code", 154_000, None, 118_500),
        # The first request of the file misses as much itself.
        ("claude-code", 154_000, 154_000, 118_500),
        ("codex", 150_000, 5_000, 145_000),
        ("codex", 91_000, 5_000, 0),
        ("pi", 900_000, 2_000, 0),
    ],
)
def test_what_no_client_sends_as_its_own_is_history(
    format_name: str, overhead: int, first: int | None, missing: int
) -> None:
    assert client_sizes(format_name).missing_history(overhead, first) == missing
