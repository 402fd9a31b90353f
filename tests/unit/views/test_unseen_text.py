"""What the next request is beside the counted tokens is more or less, never a negative more."""

import pytest

from compactctl.views.results.compact import unseen_text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (5_000, "  5,000 tokens more in the next request (told)"),
        (-397_926, "397,926 tokens less in the next request (told)"),
    ],
)
def test_a_difference_has_a_direction_and_no_sign(tokens: int, text: str) -> None:
    assert unseen_text(tokens, "told").split() == text.split()
