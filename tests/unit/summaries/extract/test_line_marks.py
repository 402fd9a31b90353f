"""Line numbers of listings and prefixes of logs are not worth their tokens on every line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.summaries.extract.line_marks import without_line_marks

ROWS = "\n".join(f"{n} | item_{n}" for n in range(1, 22))
BARE_ROWS = "\n".join(f"item_{n}" for n in range(1, 22))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("     1→import os\n     2→\n     3→    return 1", "import os\n\n    return 1"),
        ("   9\tdef moor():\n  10\t\treturn", "def moor():\n\treturn"),
        ("00001| a: 1\n00002|   b: 2", "a: 1\n  b: 2"),
        # Most lines of a listing have a number; a note below it does not.
        ("".join(f"{n}→x\n" for n in range(9)) + "(end)", "x\n" * 9 + "(end)"),
        # Numbers start anew behind a line that stands for others.
        ("7: a\n8: b\n--\n3: c\n4: d\n5: e\n6: f\n7: g", "a\nb\n--\nc\nd\ne\nf\ng"),
        ("1: a\n2: b\n[... 4 lines]\n7: c\n8: d", "a\nb\n[... 4 lines]\nc\nd"),
        ("5: a\n6: b\n7: c\n8: d\nb.py\n1: e\n2: f", "a\nb\nc\nd\nb.py\ne\nf"),
        ("5: a\n6: b\n7: c\n8: d\n(note)\n9: e", "a\nb\nc\nd\n(note)\ne"),
        # What does not continue behind another line is a number of its own.
        (f"{ROWS}\nTotal:\n37 | fruits_total", f"{BARE_ROWS}\nTotal:\n37 | fruits_total"),
        (f"{ROWS}\n-----\n37 | all\n38 | of it", f"{BARE_ROWS}\n-----\n37 | all\n38 | of it"),
        # A column of a table does not count the lines.
        ("1000000\ta.parquet\n1000131\tb.parquet", "1000000\ta.parquet\n1000131\tb.parquet"),
        ("80: x\n443: y", "80: x\n443: y"),
        ("3: a\n4: b\n\n1: c\n2: d", "3: a\n4: b\n\n1: c\n2: d"),
        ("12\t3\ta.py\n0\t7\tb.py", "12\t3\ta.py\n0\t7\tb.py"),
        ("5: five", "5: five"),
        ("3 quays\n4 boats", "3 quays\n4 boats"),
        ("7: seven\nno number\nnone here", "7: seven\nno number\nnone here"),
        ("", ""),
    ],
)
def test_a_listing_is_shown_without_its_line_numbers(text: str, plain: str) -> None:
    assert without_line_marks(text) == plain


def test_job_and_step_of_a_log_are_shown_once() -> None:
    log = [
        "lint\tCheckout\t2026-05-01T10:00:00.1234567Z fetch",
        "lint\tCheckout\t2026-05-01T10:00:01.1234567Z from",
        "lint\tCheckout\t2026-05-01T10:00:01.1234567Z done",
        "lint\tRun ruff\t2026-05-01T10:00:02.1234567Z E501 line too long",
        "lint\tRun ruff\t2026-05-01T10:00:03.1234567Z exit code 1",
    ]
    assert without_line_marks("\n".join(log)).split("\n") == [
        "lint\tCheckout\tfetch",
        "from",
        "done",
        "lint\tRun ruff\tE501 line too long",
        "exit code 1",
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [
            f"alice{n // 6}\tlogin\t2026-05-01T10:{n:02}:07.000000Z from 10.0.0.{n}"
            for n in range(24)
        ],
        [f"alice\tlogin\t2026-05-01T10:{n:02}:07Z from 10.0.0.{n}" for n in range(24)],
        [f"alice{n}\tlogin\t2026-05-01T10:{n:02}:07.0000000Z" for n in range(24)],
    ],
)
def test_a_table_with_times_is_not_a_log(rows: list[str]) -> None:
    assert without_line_marks("\n".join(rows)) == "\n".join(rows)


@given(
    st.lists(
        st.from_regex(
            r"( ?\d{1,3}→|a\tb\t2026-05-01T10:00:00\.0000000Z )?[^\n]{0,5}", fullmatch=True
        )
    )
)
def test_every_line_stays_and_loses_no_more_than_its_mark(lines: list[str]) -> None:
    plain = without_line_marks("\n".join(lines)).split("\n")
    assert len(plain) == max(1, len(lines))
    assert all(
        line.endswith(rest.rpartition("\t")[2]) for line, rest in zip(lines, plain, strict=False)
    )
