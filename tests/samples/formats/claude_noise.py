"""Lines of a Claude Code file that are no messages, and attachments that are."""

from random import Random
from typing import Any

from samples.stamps import Ids
from samples.workbench import ROOT, Outcome, Workbench

HOOK = ".claude/hooks/format.sh"
SKILLS = (
    "- tide-table: Read and check a page of the yearbook before it is loaded\n"
    "- release: Write the release letter for the three harbours\n"
    "- incident: Fill in the ministry's form for an incident"
)
QUEUED = "And when you are at it: the ministry spells it Dravenness, with double n and double s."
LONG_OUTPUT = 4_000


def hook(event: str, name: str, call_id: str) -> dict[str, Any]:
    """Progress of a hook."""
    data = {"type": "hook_progress", "hookEvent": event, "hookName": name, "command": HOOK}
    return {"type": "progress", "data": data, "toolUseID": call_id, "parentToolUseID": call_id}


def session_start(ids: Ids) -> dict[str, Any]:
    """The first line: a hook, and the root of the chain."""
    return hook("SessionStart", "SessionStart:startup", ids.uuid())


def around(
    call: dict[str, Any], outcome: Outcome, call_id: str, rng: Random
) -> list[dict[str, Any]]:
    """Progress lines between a call and its result; nothing hangs on them."""
    if call["do"] in {"edit", "write"}:
        return [hook("PostToolUse", f"PostToolUse:{call['do'].capitalize()}", call_id)]
    if call["do"] == "run" and len(outcome.text) > LONG_OUTPUT:
        return [_bash_progress(outcome, call_id, rng.randrange(2, 6))]
    return []


def _bash_progress(outcome: Outcome, call_id: str, seconds: int) -> dict[str, Any]:
    shown = outcome.text[: 160 * seconds]
    data = {
        "type": "bash_progress",
        "output": shown[-400:],
        "fullOutput": shown,
        "elapsedTimeSeconds": seconds,
        "totalLines": shown.count("\n"),
    }
    progress_id = f"bash-progress-{seconds}"
    return {"type": "progress", "data": data, "toolUseID": progress_id, "parentToolUseID": call_id}


def snapshot(prompt: str, bench: Workbench, stamp: str) -> dict[str, Any]:
    """Which files the client could restore at a prompt."""
    edited = sorted({hunk.path for hunk in bench.hunks})
    backups = {
        path: {"backupFileName": f"{number:08x}@v1", "version": 1, "backupTime": stamp}
        for number, path in enumerate(edited, start=4097)
    }
    return {
        "type": "file-history-snapshot",
        "messageId": prompt,
        "snapshot": {"messageId": prompt, "trackedFileBackups": backups, "timestamp": stamp},
        "isSnapshotUpdate": False,
    }


def turn_end(ids: Ids, rng: Random) -> list[dict[str, Any]]:
    """What the client notes when a turn is over; all of it is chained."""
    call_id = ids.uuid()
    summary = {
        "type": "system",
        "subtype": "stop_hook_summary",
        "hookCount": 1,
        "hookInfos": [{"command": ".claude/hooks/tests_green.sh"}],
        "hookErrors": [],
        "preventedContinuation": False,
        "stopReason": "",
        "hasOutput": False,
        "level": "suggestion",
        "toolUseID": call_id,
    }
    duration = {"type": "system", "subtype": "turn_duration", "isMeta": False}
    milliseconds = rng.randrange(20_000, 400_000)
    return [hook("Stop", "Stop", call_id), summary, duration | {"durationMs": milliseconds}]


def last_prompt(text: str, session_id: str) -> dict[str, Any]:
    """The metadata line that a client writes again and again."""
    return {"type": "last-prompt", "lastPrompt": text[:120], "sessionId": session_id}


def attachment(
    name: str, bench: Workbench, todos: list[dict[str, Any]]
) -> tuple[dict[str, Any], str]:
    """One attachment, and the text of it that the model gets to read."""
    match name:
        case "skills":
            return {"type": "skill_listing", "content": SKILLS, "skillCount": 3}, SKILLS
        case "memory":
            text = bench.files["CLAUDE.md"]
            path = f"{ROOT}/CLAUDE.md"
            content = {"path": path, "type": "Project", "content": text}
            return {"type": "nested_memory", "path": path, "content": content}, text
        case "edited":
            lines = bench.files["docs/handbook/berth.md"].splitlines()[:12]
            text = "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start=1))
            name = f"{ROOT}/docs/handbook/berth.md"
            return {"type": "edited_text_file", "filename": name, "snippet": text}, text
        case "queued":
            return {"type": "queued_command", "prompt": QUEUED, "commandMode": "prompt"}, QUEUED
        case _:
            text = "\n".join(todo["content"] for todo in todos)
            return {"type": "todo", "content": todos, "itemCount": len(todos)}, text
