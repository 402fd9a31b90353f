"""What the next request does not send is shown with the command that continues there."""

from pathlib import Path

import pytest
from cli.asking import Ask
from formats.claude_code.sessions import boundary, said, summarized, user
from formats.jsonl import raw_lines, write_lines
from transcripts import FOLDER, needs_real

LOST = "0b0b0b0b-0000-4000-8000-000000000000"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Return a session of which a cut and a rewind leave the last two records."""
    cut_off = [user("u1", None, "Row out."), said("a1", "u1", "Aye.")]
    rest = [
        user("u2", LOST, "And back."),
        user("u3", "u2", "Faster."),
        said("a2", "u2", "Aye, aye."),
    ]
    return write_lines(tmp_path / "run.jsonl", *cut_off, *rest)


def test_each_island_begins_with_what_it_is(session: Path, ask: Ask) -> None:
    assert ask("view", session, "--archived").out == (
        f"3 of 5 messages not sent, 9 tokens: {session}\n\n"
        "══ cut off: 2 records with 1 request (lines 1\N{EN DASH}2); "
        f"continue there: compactctl rescue {session} --from 2\n"
        "── #1 · user · 3 tokens\nRow out.\n\n── #2 · assistant · 3 tokens\nAye.\n\n"
        "══ other branch: 1 record with 1 request (line 4); "
        f"continue there: compactctl rescue {session} --from 4\n"
        "── #4 · user · 3 tokens\nFaster.\n\n"
    )
    piped = ask("view", "-", "--archived", stdin=session.read_bytes()).out
    assert "\n\n══ cut off: 2 records with 1 request (lines 1\N{EN DASH}2)\n" in piped


def test_documents_and_lines_list_them(session: Path, ask: Ask) -> None:
    document = ask("view", session, "--archived", "--json").json
    assert document["islands"] == [
        {
            "kind": kind,
            "firstLine": first,
            "lastLine": last,
            "records": last - first + 1,
            "requests": 1,
            "continueFrom": last,
        }
        for kind, first, last in (("cut off", 1, 2), ("other branch", 4, 4))
    ]
    assert [message["island"] for message in document["messages"]] == [0, 0, 1]
    lines = session.read_text().splitlines(keepends=True)
    assert ask("view", session, "--archived", "--jsonl").out == "".join([*lines[:2], lines[3]])


def test_what_the_client_compacted_is_an_island_too(tmp_path: Path, ask: Ask) -> None:
    records = [
        user("u1", None, "Row out."),
        said("a1", "u1", "Aye."),
        boundary("b1", "a1"),
        summarized("s1", "b1", "They rowed out."),
        user("u2", "s1", "And back."),
    ]
    path = write_lines(tmp_path / "run.jsonl", *records)
    out = ask("view", path, "--archived").out
    heading, title = out.splitlines()[2:4]
    assert heading == (
        "══ before a compaction: 2 records with 1 request (lines 1\N{EN DASH}2); "
        f"continue there: compactctl rescue {path} --from 2"
    )
    assert title.startswith("── #1 · user · hidden by ")
    new = tmp_path / "new.jsonl"
    assert ask("rescue", path, "--from", "2", "-o", new).code == 0
    assert ask("view", new).out.endswith(
        "\n\n── line 1 · user · 3 tokens\nRow out.\n\n── line 2 · assistant · 3 tokens\nAye.\n\n"
    )


def test_they_can_be_searched(session: Path, ask: Ask) -> None:
    outcome = ask("view", session, "--archived", "--grep", "Faster")
    assert "\n\n══ other branch: " in outcome.out
    assert outcome.out.count("──") == 1


def test_what_is_sent_is_shown_as_before(session: Path, ask: Ask) -> None:
    assert ask("view", session).out == (
        f"2 of 5 messages sent, 8 tokens: {session}\n\n"
        "── line 3 · user · 3 tokens\nAnd back.\n\n── line 5 · assistant · 5 tokens\nAye, aye.\n\n"
    )
    assert ask("view", session, "--all").out.count("──") == 5


def test_check_offers_what_may_have_been_cleared(session: Path, ask: Ask) -> None:
    outcome = ask("check", session)
    assert outcome.code == 0
    assert (
        "line 3: the client will not send 2 earlier records with 1 request (lines 1\N{EN DASH}2): "
        f"the context may have been cleared; continue there: compactctl rescue {session} --from 2\n"
    ) in outcome.out
    document = ask("check", session, "--json").json
    assert document["willBeRefused"] is False
    [fault] = document["faults"]
    assert (fault["rule"], fault["certain"], fault["line"]) == ("context-cleared", False, 3)
    assert fault["island"]["continueFrom"] == 2


@pytest.mark.parametrize(
    ("n_cut_off", "sentence"),
    [
        (2, "2 earlier records with 1 request (lines 1\N{EN DASH}2); rescue brings them back"),
        (1, "1 earlier record (line 1); rescue brings it back"),
    ],
)
def test_check_says_what_a_cut_costs(
    n_cut_off: int, sentence: str, tmp_path: Path, ask: Ask
) -> None:
    reported = {"usage": {"input_tokens": 900, "output_tokens": 5}}
    records = [
        *[user("u1", None, "Row out."), said("a1", "u1", "Aye.", inner=reported)][-n_cut_off:],
        user("u2", LOST, "And back."),
        said("a2", "u2", "Aye, aye.", inner=reported),
    ]
    outcome = ask("check", write_lines(tmp_path / "run.jsonl", *records))
    assert outcome.code == 1
    assert f"parent-missing  the client will not send {sentence}\n" in outcome.out


def test_a_repair_leaves_alone_what_may_have_been_cleared(session: Path, ask: Ask) -> None:
    repaired = ask("compact", session, "--stages", "repair", "-n")
    assert repaired.code == 0
    assert "every tool call has its result and every result its call" in repaired.out
    longer = [user("u4", "a2", "Row on. " * 3_000), said("a4", "u4", "Aye.")]
    last = [user("u5", "a4", "And back."), said("a5", "u5", "Aye.")]
    with session.open("ab") as file:
        file.writelines(raw_lines(*longer, *last))
    rescued = ask("rescue", session, "-n", "--target", "500")
    assert rescued.code == 0
    assert "context-cleared" not in rescued.out


@needs_real
def test_check_names_what_a_real_session_loses(ask: Ask) -> None:
    outcome = ask("check", FOLDER / "claude-code" / "cli-5d107d-0.jsonl")
    assert outcome.code == 1
    assert (
        "line 1,011  parent-missing  the client will not send 211 earlier records with 7 requests "
        "(lines 3\N{EN DASH}1,009); rescue brings them back"
    ) in outcome.out
