"""What programs say of their own accord is no claim; what they quote stays."""

import pytest

from compactctl.audit.audit import without_boilerplate, without_transcript_path
from compactctl.model.own_texts import HandOver, OwnDigest


def test_labels_counts_and_notes_go() -> None:
    text = """[Earlier conversation summary — 353 messages compacted]

Hand-over of 353 earlier messages (L2 to L466), extracted without a model.
- [L2] Keep 42 of them. [... 2,961 chars truncated]
Earlier messages were condensed; 175 tokens hold no summary of them. Last request: 8080"""
    left = without_boilerplate(text)
    assert [number for number in ("353", "2,961", "175", "42", "8080") if number in left] == [
        "42",
        "8080",
    ]
    assert left.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "own",
    [
        OwnDigest(count=247, following=12),
        OwnDigest(count=247, following=12, is_in_place=True),
        HandOver(count=247, following=12),
        HandOver(count=247, following=12, is_short=True),
    ],
)
def test_what_a_digest_says_of_itself_goes(own: OwnDigest | HandOver) -> None:
    assert without_boilerplate(f"{own.encode()}\nPort 8080") == "\n\nPort 8080"


def test_lists_in_a_digest_are_no_quotations() -> None:
    text = (
        "## Files\n> src/: port.py (edited), config.py\n## Course\n[L2] user\n> said by the agent"
    )
    assert [line for line in without_boilerplate(text).splitlines() if line.startswith(">")] == [
        "> said by the agent"
    ]


def test_where_a_client_kept_the_transcript_goes() -> None:
    text = "The port. If you need details, read the full transcript at: /home/kim/a b.jsonl\nGo on."
    assert without_transcript_path(text) == "The port. If you need details, \nGo on."
