"""Lists of sessions and files on screen and as documents."""

from pathlib import Path
from typing import Any

import pytest
from unit.views.results.screens import shown, titles, words

from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.commands.measuring.session_size import Certainty, SessionSize
from compactctl.commands.reading.candidates import Candidate, Candidates
from compactctl.commands.session_finder import SessionChoices
from compactctl.commands.sessions import SessionRow, SessionsResult
from compactctl.records import replace
from compactctl.views.results.sessions import (
    choices_terminal,
    chosen_line,
    session_table,
    sessions_document,
    sessions_messages,
    sessions_terminal,
)

NOW = 1_700_000_000.0
HOME = "/home/dev"
ENTRY = SessionEntry(
    client="claude-code",
    id="11112222-3333",
    path=Path("/home/dev/.claude/projects/p/1.jsonl"),
    modified=NOW - 7_200,
    n_bytes=2_500,
)
DETAILS = SessionDetails(
    title="Mend the gate", project="/home/dev/gate", model="opus", context=50_000, window=100_000
)
SIZE = SessionSize(tokens=50_000, source="counted", window=100_000)
ROW = SessionRow(session=Session(entry=ENTRY, details=DETAILS), short_id="11112222", size=SIZE)
RESULT = SessionsResult(
    rows=(ROW,), home=HOME, now=NOW, n_sessions=3, hidden=0, unread=0, searched=(), notes=()
)


def row_of(
    entry: dict[str, Any] | None = None,
    *,
    context: int | None = 50_000,
    certainty: Certainty = "exact",
    **details: Any,
) -> SessionRow:
    session = Session(entry=replace(ENTRY, **(entry or {})), details=replace(DETAILS, **details))
    size = None if context is None else replace(SIZE, tokens=context, certainty=certainty)
    return replace(ROW, session=session, size=size)


def test_a_session_is_a_row_with_what_to_do_about_it() -> None:
    assert words(sessions_terminal(RESULT)) == [
        "Session Client Last used Title Project Context Full",
        "─",
        "11112222 Claude Code 2 hours ago Mend the gate ~/gate 50,000 50% ████",
        "",
        "inspect compactctl stats 11112222",
    ]


@pytest.mark.parametrize(
    ("context", "is_full"), [(80_000, False), (80_001, True), (None, False), (100_000, True)]
)
def test_a_full_session_can_be_rescued(context: int | None, *, is_full: bool) -> None:
    lines = words(sessions_terminal(replace(RESULT, rows=(ROW, row_of(context=context)))))
    assert ("rescue compactctl rescue 11112222" in lines) is is_full


def test_a_full_session_that_cannot_become_a_new_one_is_rescued_in_place() -> None:
    row = row_of({"client": "roo"}, context=90_000)
    lines = words(sessions_terminal(replace(RESULT, rows=(row,))))
    assert "rescue compactctl rescue 11112222 --in-place" in lines


@pytest.mark.parametrize(("certainty", "sign"), [("at least", "≥"), ("about", "~")])
def test_a_size_that_may_be_another_has_a_sign(certainty: Certainty, sign: str) -> None:
    rows = (row_of(context=90_000, certainty=certainty),)
    lines = words(sessions_terminal(replace(RESULT, rows=rows)))
    assert f"{sign}90,000 {sign}90%" in lines[2]
    assert "rescue compactctl rescue 11112222" in lines


@pytest.mark.parametrize(
    ("entry", "details", "note"),
    [
        ({}, {}, ""),
        ({}, {"open": True}, "open now"),
        ({"archived": True}, {"kind": "subtask"}, "archived, subtask"),
    ],
)
def test_what_is_special_about_a_session_is_noted(
    entry: dict[str, Any], details: dict[str, Any], note: str
) -> None:
    grid = session_table([row_of(entry, **details)], NOW, HOME)
    titles = [column.title for column in grid.columns]
    assert ("Note" in titles) is bool(note)
    if note:
        assert grid.rows[0][titles.index("Note")] == note


def test_columns_that_are_empty_for_all_are_left_out() -> None:
    bare = row_of({"n_bytes": None}, context=None, model="", project="", title="")
    titles = [column.title for column in session_table([bare], NOW, HOME).columns]
    assert titles == ["Session", "Client", "Last used"]
    both = session_table([bare, ROW], NOW, HOME)
    assert len(both.columns) == 8
    assert both.rows[0] == ("11112222", "Claude Code", "2 hours ago", *[""] * 5)


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"n_sessions": 1}, ["no session matches (1 session searched)"]),
        ({"n_sessions": 3}, ["no session matches (3 sessions searched)"]),
        (
            {"n_sessions": 0, "searched": ("/home/dev/.codex", "/srv")},
            [
                "no sessions found in:",
                "  ~/.codex",
                "  /srv",
                "stats takes any transcript: compactctl stats FILE",
            ],
        ),
        (
            {"unread": 1, "hidden": 2},
            [
                "no session matches (3 sessions searched)",
                "1 older session not shown; --limit 0 shows all",
                "2 non-interactive sessions hidden; --all shows all",
            ],
        ),
    ],
)
def test_without_a_session_it_is_said_why(changes: dict[str, Any], lines: list[str]) -> None:
    assert shown(sessions_terminal(replace(RESULT, rows=(), **changes))) == lines


def test_a_document_has_what_is_known_and_null_for_what_is_not() -> None:
    document = sessions_document(replace(RESULT, notes=("x",)))
    assert {name: document[name] for name in ("found", "hidden", "unread", "warnings")} == {
        "found": 3, "hidden": 0, "unread": 0, "warnings": ["x"],
    }  # fmt: skip
    assert document["sessions"] == [
        {
            "client": "claude-code",
            "id": "11112222-3333",
            "shortId": "11112222",
            "title": "Mend the gate",
            "project": "/home/dev/gate",
            "path": "/home/dev/.claude/projects/p/1.jsonl",
            "modifiedAt": "2023-11-14T20:13:20+00:00",
            "bytes": 2_500,
            "model": "opus",
            "contextTokens": 50_000,
            "contextAtLeast": None,
            "contextSource": "counted",
            "windowTokens": 100_000,
            "windowRatio": 0.5,
            "kind": "main",
            "archived": False,
            "open": False,
            "readable": True,
        }
    ]
    [bare] = sessions_document(
        replace(RESULT, rows=(row_of(context=None, model="", project="", title=""),))
    )["sessions"]
    assert [
        bare[name] for name in ("title", "project", "model", "contextSource", "windowRatio")
    ] == [None] * 5


def test_warnings_tell_of_sizes_that_cannot_be_true() -> None:
    one = replace(RESULT, rows=(ROW, row_of(context=9, certainty="at least")), notes=("odd",))
    two = replace(one, rows=(*one.rows, row_of(context=9, certainty="at least")))
    assert list(sessions_messages(replace(RESULT, notes=("odd",)))) == ["warning: odd"]
    assert [line.split(" is")[0] for line in sessions_messages(one)] == [
        "warning: odd", "warning: 1 session",
    ]  # fmt: skip
    assert list(sessions_messages(two))[1].startswith("warning: 2 sessions are larger than")


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (ROW, 'Claude Code session 11112222 "Mend the gate", 2 hours ago, ~/gate'),
        (row_of(title="", project=""), "Claude Code session 11112222, 2 hours ago"),
    ],
)
def test_a_chosen_session_is_told_on_one_line(row: SessionRow, line: str) -> None:
    assert chosen_line(row, NOW, HOME) == line


CHOICES = SessionChoices(why="gate: several\nids", rows=(ROW,), more=0, now=NOW, home=HOME)


@pytest.mark.parametrize(("more", "lines"), [(0, []), (1, ["1 older session not shown"])])
def test_choices_come_with_what_to_type(more: int, lines: list[str]) -> None:
    choices = replace(CHOICES, more=more)
    options = ["--grep", "a b"]
    shown_lines = words(choices_terminal(choices, "compactctl stats", options, numbered=False))
    assert shown_lines[:2] == ["compactctl stats: gate: several\\nids:", ""]
    assert shown_lines[5:] == ["", *lines, "compactctl stats 11112222 --grep 'a b'"]


FILES = Candidates(
    folder=Path("/srv"),
    compacted=False,
    files=tuple(
        Candidate(name=name, n_bytes=2_500, modified=NOW - 60, format=format_)
        for name, format_ in (("run.compacted.jsonl", "codex"), ("run.jsonl", ""))
    ),
    more=2,
)


def test_transcripts_stand_below_the_sessions() -> None:
    choices = replace(CHOICES, files=FILES)
    assert words(choices_terminal(choices, "compactctl stats", [], numbered=False))[6:] == [
        "File Size Written Format",
        "─",
        "run.compacted.jsonl 2.5 kB 1 minute ago codex",
        "run.jsonl 2.5 kB 1 minute ago unknown",
        "",
        "2 older files not shown",
        "compactctl stats 11112222",
        "compactctl stats /srv/run.compacted.jsonl",
        "compactctl stats /srv/run.jsonl",
    ]


def test_where_a_number_is_typed_there_is_one_before_each_row() -> None:
    lines = words(choices_terminal(replace(CHOICES, files=FILES), "x", [], numbered=True))
    numbers = [line.split()[0] for line in lines if line[:1].isdigit()]
    assert numbers == ["1", "2", "3", "2"]
    assert lines[-1] == "2 older files not shown"


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (72, ["Session Client Last used Title Context Full"]),
        (63, ["Session Client Last used Title Full"]),
        (54, ["Session Last used Title Full"]),
        (41, ["Session Title Full"]),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: list[str]) -> None:
    assert titles(sessions_terminal(RESULT), width) == shown_titles
    assert titles(sessions_terminal(RESULT), width + 1) != shown_titles
