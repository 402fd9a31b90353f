"""What a client refuses of a session in its store is set right in a new session there."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask
from refusals.inputs import FAULTS, Fault
from refusals.oracle import find_refusals
from refusals.talks import FILE_NAMES, WRITERS, sound_talk
from sessions.homes import Home, Said

ID = "5b1c7d1e-3c55-4c0e-9a53-6f1d2c3b9abc"
FOLDERS = {
    "claude-code": ".claude/projects/-home-dev-harbor",
    "codex": ".codex/sessions/2026/03/02",
    "copilot-cli": f".copilot/session-state/{ID}",
    "gemini-cli": ".gemini/tmp/harbor/chats",
    "pi": ".pi/agent/sessions/--home-dev-harbor--",
}
REFUSED = [
    fault
    for fault in FAULTS
    if fault.form in FOLDERS and not (fault.needs_user or fault.fixed_since)
]


def stored(form: str, data: bytes) -> Path:
    """Write a session into the store of its client; return the folder of its sessions."""
    path = Path.home() / FOLDERS[form] / FILE_NAMES[form]
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def new_sessions(path: Path) -> list[Path]:
    """Return the sessions beside a stored one, of any day."""
    root = Path.home() / Path(*path.relative_to(Path.home()).parts[:2])
    sessions = (file for file in root.rglob(f"*{path.suffix}") if "session_index" not in file.name)
    return [file for file in sessions if file != path]


@pytest.mark.parametrize("fault", REFUSED, ids=[fault.label for fault in REFUSED])
def test_a_stored_session_is_rescued_once(fault: Fault, ask: Ask) -> None:
    data = fault.make().faulty
    path = stored(fault.form, data)
    dry_run = ask("rescue", ID, "-n")
    assert "would fix" in dry_run.out, dry_run
    assert new_sessions(path) == []
    outcome = ask("rescue", ID)
    assert outcome.code == 0, outcome
    assert "fixed" in outcome.out
    (new,) = new_sessions(path)
    assert find_refusals(new) == []
    assert ask("check", new).code == 0
    again = ask("rescue", ID)
    assert "rescued before" in again.out, again
    assert new_sessions(path) == [new]
    assert path.read_bytes() == data


def test_the_last_record_of_a_codex_session_gets_its_number(ask: Ask) -> None:
    records = [json.loads(line) for line in WRITERS["codex"](sound_talk()).data().splitlines()]
    lines = [{**record, "ordinal": number} for number, record in enumerate(records)]
    del lines[-1]["ordinal"]
    path = stored("codex", "".join(f"{json.dumps(line)}\n" for line in lines).encode())
    outcome = ask("rescue", ID)
    assert outcome.code == 0, outcome
    assert f"line {len(lines)}" in outcome.out
    (new,) = new_sessions(path)
    assert json.loads(new.read_bytes().splitlines()[-1])["ordinal"] == len(lines) - 1


def test_a_task_of_an_editor_is_repaired_in_place(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client has no place for a new one."""
    monkeypatch.delenv("XDG_CONFIG_HOME")
    (fault,) = [fault for fault in FAULTS if fault.label == "cline-text-empty"]
    path = Home(root=Path.home()).cline_task(Said())
    path.write_bytes(fault.make().faulty)
    assert f"fix in place: compactctl rescue --in-place {path}\n" in ask("check", path).out
    outcome = ask("rescue", "--in-place", path)
    assert outcome.code == 0, outcome
    assert find_refusals(path) == []
