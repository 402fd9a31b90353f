"""What a client compacted is listed, shown, undone, and had again byte for byte."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file, rewind_file
from formats.claude_code import sessions as claude
from formats.gemini_cli import talks as gemini
from formats.opencode import sessions as opencode
from unit.commands.client_sessions import clients
from unit.commands.conversations import log_of, squeeze, view_of

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.inspect.audit import AuditOptions, audit
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.rewind.rewind import RewindOptions, RewindResult, rewind
from compactctl.errors import ArchiveError, ChangedError, UsageError
from compactctl.model.client_compaction import ClientCompaction
from compactctl.records import replace
from compactctl.tokens.meter import part_texts

Session = Callable[[], bytes]


def twice() -> bytes:
    """Return a session of Claude Code that its client compacted two times."""
    return clients.claude_code() + clients.lines(
        claude.boundary("b2", "u4"),
        claude.summarized("s2", "b2", "All was read twice."),
        claude.user("u6", "s2", "And now?"),
    )


def long() -> bytes:
    """Return a session of Claude Code that goes on for long after its client compacted it."""
    return clients.claude_code() + clients.claude_talk()


def pruned() -> bytes:
    """Return a session of OpenCode in which the client cleared an output."""
    cleared = {"start": 1, "end": 2, "compacted": 1_700_000_000_000}
    read = opencode.tool("c1", "read", {}, output=clients.FILE, time=cleared)
    messages = [
        opencode.assistant("msg_1", read),
        opencode.user("msg_2", opencode.text(clients.LATER)),
    ]
    return json.dumps({"info": opencode.SESSION, "messages": messages}).encode()


def kept_verbatim() -> bytes:
    """Return a session of Claude Code whose compaction kept its newest messages."""
    return clients.lines(
        claude.user("u1", None, clients.RULE),
        claude.called("a1", "u1", clients.PATH),
        claude.answered("u2", "a1", clients.PATH, clients.FILE),
        claude.said("a2", "u2", "They are read."),
        claude.boundary(
            "b1", "a2", preservedSegment={"headUuid": "a2", "anchorUuid": "s1", "tailUuid": "a2"}
        ),
        claude.summarized("s1", "b1", clients.SUMMARY),
        claude.user("u3", "a2", clients.LATER),
    )


LINES = (clients.claude_code, clients.pi_session, clients.codex_cli, clients.copilot_cli)
SESSIONS: tuple[Session, ...] = (
    *LINES,
    clients.opencode_session,
    clients.gemini_cli,
    clients.roo_task,
    kept_verbatim,
)
EACH = pytest.mark.parametrize("session", SESSIONS)


def saved(folder: Path, data: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "session.jsonl"
    path.write_bytes(data)
    return path


def sent(path: Path) -> str:
    messages = load_file(path).transcript.effective
    return "\n".join(text for m in messages for part in m.parts for text in part_texts(part))


def listed(path: Path) -> list[ClientCompaction]:
    return list(log_of(path).by_client)


def undone(path: Path, **how: Any) -> RewindResult:
    output = OutputOptions(path=how.pop("output", None), in_place=how.pop("in_place", True))
    read = InputOptions(path=str(path))
    return rewind(RewindOptions(input=read, client=True, output=output, **how))


@EACH
def test_a_clients_compaction_is_undone_and_that_as_well(session: Session, tmp_path: Path) -> None:
    path = saved(tmp_path, session())
    (compaction,) = listed(path)
    assert (compaction.what, compaction.in_effect) == ("summarized", True)
    assert clients.SUMMARY in sent(path)
    assert clients.RULE not in sent(path) or session is clients.copilot_cli

    result = undone(path)
    text = sent(path)
    assert result.by_client == (compaction,)
    assert clients.RULE in text
    assert clients.FILE in text
    assert clients.LATER in text
    assert clients.SUMMARY not in text
    assert listed(path) == []

    back = rewind_file(path)
    assert len(back.undone) == 1
    assert path.read_bytes() == session()
    assert listed(path) == [compaction]


@EACH
def test_what_a_client_hides_is_shown_as_archived(session: Session, tmp_path: Path) -> None:
    path = saved(tmp_path, session())
    (compaction,) = listed(path)
    hidden = view_of(path, "archived").messages
    assert {each.hidden and each.hidden.group for each in hidden} == {compaction.id}
    assert {each.message.id for each in hidden} == set(compaction.hidden)
    everything = view_of(path, "all").messages
    assert [each.message.id for each in everything if each.hidden] == [
        each.message.id for each in hidden
    ]


def test_cleared_outputs_are_shown_and_sent_again(tmp_path: Path) -> None:
    path = saved(tmp_path, pruned())
    assert clients.FILE not in sent(path)
    (shown,) = view_of(path, "archived").messages
    assert any(clients.FILE in text for part in shown.message.parts for text in part_texts(part))
    assert [each.what for each in listed(path)] == ["cleared"]
    undone(path)
    assert clients.FILE in sent(path)
    assert json.loads(path.read_bytes())["messages"][0]["parts"][0]["state"]["time"] == {
        "start": 1,
        "end": 2,
    }
    rewind_file(path)
    assert path.read_bytes() == pruned()


def test_of_several_the_newest_is_undone_or_all_or_those_after_one(tmp_path: Path) -> None:
    path = saved(tmp_path, twice())
    first, second = listed(path)
    assert (first.in_effect, second.in_effect) == (False, True)
    undone(path)
    assert listed(path) == [replace(first, in_effect=True)]
    assert clients.SUMMARY in sent(path)
    assert "twice" not in sent(path)

    path.unlink()
    path = saved(tmp_path / "all", twice())
    undone(path, all=True)
    assert clients.RULE in sent(path)
    assert clients.SUMMARY not in sent(path)

    path = saved(tmp_path / "to", twice())
    assert undone(path, to=first.id[:6]).undone == (second.id,)
    assert not undone(path, to=first.id).moved
    with pytest.raises(UsageError, match="not a compaction by"):
        undone(path, to="000000")


def test_nothing_is_written_without_a_place(tmp_path: Path) -> None:
    path = saved(tmp_path, clients.claude_code())
    with pytest.raises(UsageError, match="--in-place"):
        undone(path, in_place=False)
    assert undone(path, in_place=False, check=True).options.check
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    with pytest.raises(UsageError, match="cannot be used together"):
        undone(path, output="x.jsonl")
    with pytest.raises(UsageError, match="--client and --group"):
        undone(path, group="x")
    with pytest.raises(UsageError, match="needs --client"):
        rewind_file(path, in_place=True)


def test_another_file_takes_what_was_done_before_along(tmp_path: Path) -> None:
    path, other = saved(tmp_path, long()), tmp_path / "other.jsonl"
    squeeze(path, "prune")
    compacted = path.read_bytes()
    undone(path, in_place=False, output=str(other))
    assert path.read_bytes() == compacted
    assert clients.RULE in sent(other)
    assert [entry.in_effect for entry in log_of(other).operations] == [True, True]
    rewind_file(other)
    assert other.read_bytes() == compacted
    rewind_file(other, all=True)
    assert other.read_bytes() == long()


def test_without_a_compaction_nothing_is_undone(tmp_path: Path) -> None:
    path = saved(tmp_path, clients.claude_talk())
    assert not undone(path).moved
    assert listed(path) == []


def test_a_summary_whose_originals_are_elsewhere_cannot_be_undone(tmp_path: Path) -> None:
    lines = clients.claude_code().splitlines(keepends=True)
    path = saved(tmp_path, b"".join(lines[4:]))
    assert listed(path) == []
    assert not undone(path).moved


@pytest.mark.parametrize("mark", ["", " anew"], ids=["the same ids", "new ids"])
def test_a_compaction_is_undone_beneath_what_its_client_repeated(tmp_path: Path, mark: str) -> None:
    session = clients.gemini_cli()
    *_, snapshot, prompt, answer = map(json.loads, session.splitlines())
    held = (*snapshot["$set"]["messages"], prompt, answer)
    resumed = gemini.put(*({**each, "id": each["id"] + mark} for each in held))
    path = saved(tmp_path, session + clients.lines(resumed))
    plain = saved(tmp_path / "plain", session)
    assert undone(path).moved
    undone(plain)
    assert sent(path) == sent(plain)


def test_going_to_another_branch_is_no_compaction(tmp_path: Path) -> None:
    entries = clients.pi_session().splitlines(keepends=True)
    left = clients.lines(
        {"type": "branch_summary", "id": "b1", "parentId": "e1", "fromId": "e9", "summary": "Left."}
    )
    path = saved(tmp_path, b"".join((*entries[:6], left)))
    assert listed(path) == []


def test_an_undone_compaction_is_neither_audited_as_ours_nor_in_the_way(tmp_path: Path) -> None:
    path = saved(tmp_path, long())
    squeeze(path, "prune")
    undone(path)
    writers = [
        each.compaction.writer
        for each in audit(AuditOptions(input=InputOptions(path=str(path)))).compactions
    ]
    assert writers.count("claude-code") == 1
    group = next(g.id for entry in log_of(path).operations for g in entry.groups)
    with pytest.raises(ChangedError, match="redo that first"):
        rewind_file(path, group=group)


def test_a_missing_archive_is_not_taken_for_nothing_hidden(tmp_path: Path) -> None:
    path = saved(tmp_path, long())
    squeeze(path, "prune")
    moved = path.rename(tmp_path / "moved.jsonl")
    with pytest.raises(ArchiveError, match=r"archive not found; .*\.archive matches; pass it"):
        view_of(moved, "archived")
    assert view_of(moved).messages


def test_originals_need_an_archive(tmp_path: Path) -> None:
    path = saved(tmp_path, clients.claude_code())
    with pytest.raises(UsageError, match="--layout inline"):
        squeeze(path, "prune", redo=True, layout="inline")


@EACH
def test_it_is_made_again_from_the_originals(session: Session, tmp_path: Path) -> None:
    path, other = saved(tmp_path, session()), tmp_path / "other.jsonl"
    result = squeeze(path, "prune", redo=True, output=str(other))
    assert len(result.undone) == 1
    assert result.compacted
    assert path.read_bytes() == session()
    assert clients.SUMMARY not in sent(other)
    assert clients.LATER in sent(other)
    left = sent(other).count(clients.FILE)
    rewind_file(other)
    assert sent(other).count(clients.FILE) > left
    rewind_file(other, all=True)
    assert other.read_bytes() == session()
