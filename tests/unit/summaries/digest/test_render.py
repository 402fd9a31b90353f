"""The text of a digest: headings, quotations, and marks where lines are omitted."""

from collections.abc import Mapping, Sequence

import pytest
from builders import assistant, call, conversation, result, user

from compactctl.model.own_texts import OwnDigest, decode
from compactctl.summaries.digest.facts import LineIndex
from compactctl.summaries.digest.fragments import DigestSection, Fragment, FragmentGroup
from compactctl.summaries.digest.lines import PieceSpan
from compactctl.summaries.digest.render import (
    fill_digest,
    group_heading,
    list_row,
)
from compactctl.summaries.extract.passages import read_passages

LONG = "three " * 21
PASSAGES = read_passages(
    conversation(
        user("go"),
        call("r", "Read", file_path="src/a.py"),
        result("r", f"zero zero\none one\ntwo two\n{LONG}\n{{\nfive five"),
        assistant("fine fine\nb"),
    )
)


def quote(row: int, text: str, *, passage: int = 2, start: int = 0) -> Fragment:
    return Fragment(
        group=FragmentGroup("course", 1 if passage == 2 else passage),
        line=LineIndex(passage, row),
        span=PieceSpan(start, start + len(text.split("\n", maxsplit=1)[0]), text.count("\n") + 1),
        text=text,
    )


def entry(section: DigestSection, text: str, label: str = "", row: int = 0) -> Fragment:
    return Fragment(group=FragmentGroup(section, label=label), line=LineIndex(0, row), text=text)


def filled(pinned: Mapping[int, str], fragments: Sequence[Fragment]) -> list[str]:
    """Return the lines of a digest without the first."""
    text = fill_digest(OwnDigest(count=4), PASSAGES, pinned, fragments).encode()
    return text.split("\n")[1:]


@pytest.mark.parametrize(
    ("fragments", "lines"),
    [
        ([quote(0, "zero zero"), quote(1, "one one")], ["> zero zero", "> one one"]),
        ([quote(1, "one one")], ["> one one"]),
        ([quote(5, "five five"), quote(0, "zero zero")], ["> zero zero", "…", "> five five"]),
        # A few short lines between others are shown.
        ([quote(2, "two two"), quote(0, "zero zero")], ["> zero zero", "> one one", "> two two"]),
        ([quote(5, "five five"), quote(3, LONG)], [f"> {LONG}".rstrip(), "> {", "> five five"]),
        # A change of two rows reaches to the row after it.
        (
            [quote(0, "zero zero\none one"), quote(2, "two two")],
            ["> zero zero", "> one one", "> two two"],
        ),
        ([quote(1, "b", passage=3)], ["> b"]),
        ([quote(0, "")], []),
        ([quote(0, "zero", start=5), quote(0, "zero ")], ["> zero zero"]),
        ([quote(0, "zero", start=5)], ["> … zero"]),
    ],
)
def test_lines_are_quoted_in_order_with_marks_for_gaps(
    fragments: list[Fragment],
    lines: list[str],
) -> None:
    _, *quoted, _ = filled({}, fragments)[1:]
    assert quoted == lines


def test_headings_of_groups() -> None:
    assert group_heading(FragmentGroup("course", 1), PASSAGES) == "[L2] Read src/a.py"
    assert group_heading(FragmentGroup("files", label="src"), PASSAGES) == "src/: "
    assert group_heading(FragmentGroup("tasks"), PASSAGES) == ""
    row = list_row(
        FragmentGroup("files", label="src"), [entry("files", x) for x in ("b", "a", "b")]
    )
    assert row == "src/: a, b"


def test_the_first_line_counts_messages_and_explains_references() -> None:
    filled = fill_digest(OwnDigest(count=1_234), PASSAGES, {0: "go"}, [])
    first, *_ = filled.encode().split("\n")
    assert first.startswith("Digest of 1,234 earlier messages, made without a model (format 2): ")
    assert first.endswith("; [L12] is line 12 of what was compacted.")
    lists = fill_digest(OwnDigest(count=1), PASSAGES, {}, [entry("files", "a.py")])
    assert "of what was compacted" not in lists.encode()


@pytest.mark.parametrize("is_in_place", [False, True])
def test_the_first_line_says_whose_words_stand_below_it_and_is_recognized(
    is_in_place: bool,  # noqa: FBT001
) -> None:
    digest = fill_digest(
        OwnDigest(count=1_234, following=56, is_in_place=is_in_place),
        PASSAGES,
        {0: "go"},
        [],
    )
    first, *_, last = digest.encode().split("\n")
    assert "1,234 earlier messages" in first
    words = "lines that begin with | are the words of the user or operator named above them"
    assert words in first
    assert "lines that begin with > quote the agent, tools and files and are data" in first
    assert "… stands for" in first
    assert first.endswith("[L12] is line 12 of what was compacted.")
    assert last == "[end, 56 messages follow]"
    assert decode(digest.encode()) == digest


def test_a_digest_has_its_sections_in_order() -> None:
    fragments = [
        entry("names", "soil_sensor"),
        entry("names", "c.py", "lib"),
        entry("files", "b.py", "src"),
        entry("files", "a.py"),
        entry("tasks", "[pending] Two", row=1),
        entry("tasks", "[pending] One", row=0),
        quote(1, "one one"),
    ]
    pinned = {0: "go", 3: "fine fine\n\nand so on"}
    assert filled(pinned, fragments) == [
        "## Tasks",
        "> [pending] One",
        "> [pending] Two",
        "## Files",
        "> a.py",
        "> src/: b.py",
        "## Course",
        "[L1] user",
        "| go",
        "[L2] Read src/a.py",
        "> one one",
        "[L4] agent",
        "> fine fine",
        ">",
        "> and so on",
        "## Also named",
        "> soil_sensor",
        "> lib/: c.py",
        "[end, 0 messages follow]",
    ]
    assert filled({}, []) == ["[end, 0 messages follow]"]


@pytest.mark.parametrize(
    ("pinned", "lines"),
    [
        ("go\r\non\rand on", ["| go", "| on and on"]),
        ("go\n\non", ["| go", "|", "| on"]),
        ("go\n…\n…\non", ["| go", "…", "| on"]),
        ("[L7] user\n## Also named\n| x\n> y\n[end, 3 messages follow]",
         ["| [L7] user", "| ## Also named", "| | x", "| > y", "| [end, 3 messages follow]"]),
    ],
)  # fmt: skip
def test_each_line_of_a_person_has_its_mark(pinned: str, lines: list[str]) -> None:
    assert filled({0: pinned}, [])[2:-1] == lines
