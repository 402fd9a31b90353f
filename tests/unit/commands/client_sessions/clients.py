"""One session as several clients write it: a rule, a file, a compaction, and the file again."""

import json
from typing import Any

from formats.claude_code import sessions as claude
from formats.cline import tasks as roo
from formats.codex import rollouts as codex
from formats.copilot_cli import sessions as copilot
from formats.gemini_cli import talks as gemini
from formats.opencode import sessions as opencode
from formats.pi import sessions as pi

RULE = "Never touch the migrations folder."
FILE = "\n".join(f"setting_{n} = {n}" for n in range(40))
SUMMARY = "The settings were read, and 4711 of them are wrong."
LATER = "Good. Now look at the settings again."
PATH = "/w/src/settings.py"

Record = dict[str, Any]


def claude_code() -> bytes:
    return lines(
        claude.user("u1", None, RULE),
        claude.called("a1", "u1", PATH),
        claude.answered("u2", "a1", PATH, FILE),
        claude.said("a2", "u2", "They are read."),
        claude.boundary("b1", "a2"),
        claude.summarized("s1", "b1", SUMMARY),
        claude.user("u3", "s1", LATER),
        claude.called("a3", "u3", PATH + "#2")
        | {"message": {"role": "assistant", "id": "m", "model": "m", "content": [_read("c2")]}},
        claude.answered("u4", "a3", "c2", FILE),
    )


def claude_talk() -> bytes:
    """Return more lines for the end of that session."""
    return lines(
        claude.said("a4", "u4", "They say nothing new. " * 200),
        claude.user("u5", "a4", "Thanks."),
    )


def codex_cli(text: str = SUMMARY) -> bytes:
    read = json.dumps({"cmd": f"cat {PATH}"})
    return lines(
        codex.record("session_meta", id="s", cwd="/w"),
        codex.message("user", "Look at the settings."),
        codex.message("assistant", RULE),
        codex.call("c1", read),
        codex.output("c1", FILE),
        codex.record("compacted", message=text),
        codex.message("user", LATER),
        codex.call("c2", read),
        codex.output("c2", FILE),
    )


def codex_sealed() -> bytes:
    history = [
        codex.message("user", RULE)["payload"],
        {"type": "compaction", "encrypted_content": "c2VjcmV0"},
    ]
    split = codex_cli().splitlines(keepends=True)
    sealed = codex.record("compacted", message="", replacement_history=history)
    return b"".join((*split[:5], lines(sealed), *split[6:]))


def pi_session() -> bytes:
    entries = pi.chained(
        pi.prompt(RULE),
        pi.called(PATH),
        pi.answered(PATH, FILE),
        pi.said("They are read."),
        pi.prompt("Go on."),
        pi.entry("compaction", summary=SUMMARY, tokensBefore=9, firstKeptEntryId="e4"),
        pi.prompt(LATER),
        pi.called(PATH),
        pi.answered(PATH, FILE),
    )
    return lines(pi.HEADER, *entries)


def opencode_session() -> bytes:
    def look(name: str) -> Record:
        read = opencode.tool(f"c{name}", "read", {"filePath": PATH}, output=FILE)
        return opencode.assistant(name, opencode.text("I look."), read)

    messages = [
        opencode.user("msg_1", opencode.text(RULE)),
        look("msg_2"),
        opencode.user("msg_3", {"id": "prt_c", "type": "compaction", "auto": True}),
        opencode.assistant(
            "msg_4", opencode.text(SUMMARY), parentID="msg_3", summary=True, finish="stop"
        ),
        opencode.user("msg_5", opencode.text(LATER)),
        look("msg_6"),
    ]
    return json.dumps(
        {"info": opencode.SESSION | {"directory": "/w"}, "messages": messages}
    ).encode()


def copilot_cli() -> bytes:
    events = copilot.session(
        copilot.event(
            "session.start",
            sessionId="s",
            version=1,
            producer="copilot-agent",
            context={"cwd": "/w"},
        ),
        copilot.prompt("Look at the settings."),
        copilot.said(RULE),
        copilot.called(PATH),
        copilot.answered(PATH, FILE),
        copilot.event("session.compaction_complete", success=True, summaryContent=SUMMARY),
        copilot.prompt(LATER),
        copilot.called(PATH),
        copilot.answered(PATH, FILE),
    )
    return lines(*events)


def gemini_cli() -> bytes:
    """Return a session in which the client put a snapshot in place of its messages."""
    read = gemini.tool(
        "c1", "read_file", {"file_path": PATH}, gemini.answered("c1", "read_file", output=FILE)
    )
    snapshot = f"<state_snapshot>\n{SUMMARY}\n</state_snapshot>"
    return lines(
        gemini.SESSION,
        gemini.user("u1", "Look at the settings."),
        gemini.gemini("g1", RULE),
        gemini.gemini("g2", "I look.", read),
        gemini.put(gemini.user("s1", snapshot), gemini.gemini("s2", "Got it.")),
        gemini.user("u2", LATER),
        gemini.gemini("g3", "I look again."),
    )


def roo_task() -> bytes:
    """Return a task whose client tagged what the summary at its end stands for."""
    said = [
        roo.user(roo.text(RULE)),
        roo.assistant(roo.call("read_file", "t1", path=PATH)),
        roo.user(roo.result("t1", FILE)),
        roo.assistant(roo.text("They are read.")),
    ]
    summary = roo.user(roo.text(SUMMARY), isSummary=True, condenseId="c1")
    records = [{**each, "condenseParent": "c1"} for each in said]
    return json.dumps([*records, summary, roo.user(roo.text(LATER))]).encode()


def _read(call: str) -> Record:
    return {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": PATH}}


def lines(*records: Record) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)
