"""What several passes of a stage say is one note, with the sums of its counts."""

import pytest

from compactctl.pipeline.run import add_up_notes


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        ((), ""),
        (("", "a note"), "a note"),
        (("a note", "a note"), "a note"),
        (("messages hidden: 1,204", "messages hidden: 3"), "messages hidden: 1,207"),
        (
            (
                "messages hidden: 190, messages shortened: 38",
                "messages shortened: 8; still over the target",
            ),
            "messages hidden: 190, messages shortened: 46; still over the target",
        ),
        (
            ("texts cut to 120 tokens: 2", "texts cut to 90 tokens: 2"),
            "texts cut to 120 tokens: 2, texts cut to 90 tokens: 2",
        ),
    ],
)
def test_equal_counts_are_added_up(notes: tuple[str, ...], said: str) -> None:
    assert add_up_notes(notes) == said
