"""Without what it keeps and never sends a client goes on as before, and sends the same."""

import json
from pathlib import Path

import pytest
from clients.asking import compactctl, typed, viewed
from clients.running import Led
from formats.jsonl import write_lines

UNSENT = ("--stages", "unsent", "--unsent-snapshots")


def add_progress(session: Path) -> None:
    """Put a record of progress before each result, in the chain as Claude Code 2.1 has it."""
    lines = []
    for number, line in enumerate(session.read_text().splitlines()):
        record = json.loads(line)
        if "toolUseResult" in record:
            told = {"type": "hook_progress", "hookEvent": "PreToolUse", "command": "x" * 2_000}
            name = f"00000000-0000-4000-8000-{number:012}"
            progress = {**record, "type": "progress", "uuid": name, "data": told}
            for left in ("message", "toolUseResult"):
                progress.pop(left)
            lines.append(progress)
            record["parentUuid"] = name
        lines.append(record)
    write_lines(session, *lines)


def add_ends(session: Path) -> None:
    """Put what Codex told of a command's end before its output, as the versions did that do."""
    lines = []
    for line in session.read_text().splitlines():
        record = json.loads(line)
        payload = record.get("payload", {})
        if payload.get("type") == "function_call_output":
            told = {"type": "exec_command_end", "call_id": payload["call_id"], "exit_code": 0}
            told |= {"turn_id": "1", "stdout": "x" * 999, "duration": {"secs": 0, "nanos": 9}}
            lines.append({**record, "type": "event_msg", "payload": told})
        lines.append(record)
    for number, record in enumerate(lines):
        if "ordinal" in record:
            record["ordinal"] = number
    write_lines(session, *lines)


SENDING = frozenset({"copilot-cli", "cline"})
# Of what these versions do not write any more, but read.
ADDED = {"claude-code": add_progress, "codex": add_ends}


@pytest.mark.parametrize("layout", ["fork", "--in-place"])
def test_it_sends_the_same(led: Led, layout: str) -> None:
    if led.client.name in SENDING:
        pytest.skip(f"all that {led.client.name} has kept of this session is sent")
    if layout == "--in-place" and not led.client.has_files:
        pytest.skip(f"the database of {led.client.name} is only read")
    if led.client.name in ADDED:
        ADDED[led.client.name](Path(led.session))
    whole = [*viewed(led.desk, led.session)]
    how = () if layout == "fork" else (layout,)
    done = compactctl(led.desk, "compact", led.session, *UNSENT, *how)
    sizes = [done[state]["bytes"] for state in ("before", "after")]  # type: ignore[index]
    assert sizes[0] > sizes[1]
    small = str(done["output"])
    led.client.take_in(led.desk, small)
    sent = led.say("And now?", small, limit=None)
    assert sent == [[*whole, typed("And now?")]]
    if layout == "--in-place":
        compactctl(led.desk, "rewind", small)
        went_on = [*whole, *map(typed, ("And now?", "Understood.", "And back?"))]
        assert led.say("And back?", small, limit=None) == [went_on]
