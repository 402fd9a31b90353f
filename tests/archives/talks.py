"""One small talk about a lock gate, as every format writes it down: what the fixtures start from.

Every turn reads the same file and runs a command, so that each stage finds something.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from formats import neurolink_talk as neurolink
from formats import openai_talk as openai
from formats.claude_code import sessions as claude
from formats.cline import tasks as cline
from formats.codex import rollouts as codex
from formats.copilot_cli import sessions as copilot
from formats.opencode import sessions as opencode
from formats.pi import sessions as pi

Record = dict[str, Any]

TURNS = 4
LATER = 1
"""Turns that come after a first compaction, where a file grows by lines."""
SOURCE = "\n".join(f"LEVEL_{n} = {n * 17 % 23}  # centimetres above the sill" for n in range(8))
ENVIRONMENT = cline.ENVIRONMENT.replace("/work/app", "/app")
ROO_ENVIRONMENT = (
    "<environment_details>\n# Current Mode\n<slug>code</slug>\n<model>m-1</model>\n\n"
    "# Current Workspace Directory (/app) Files\ngate.py\n</environment_details>"
)


@dataclass(frozen=True, slots=True)
class Talk:
    """A file, the lines that are appended to it later, and the format's name.

    ``later`` is empty where clients write the whole document anew.
    """

    format: str
    data: bytes
    later: bytes = b""
    file: str = "session.jsonl"


def _asked(turn: int) -> str:
    return f"Check the gate once more, part {turn}: is level {turn} right? \u2603 \U0001f6a2"


def _output(turn: int) -> str:
    return f"run {turn}: " + "sluice and gate agree; " * 9


def _answer(turn: int) -> str:
    return f"Level {turn} is right; I changed nothing in gate.py."


def talks() -> Iterator[Talk]:
    """Yield a talk for every format."""
    for name, write in _LINES.items():
        yield _lines(name, write)
    for name, document in _DOCUMENTS.items():
        text = json.dumps(document(), indent="\t", ensure_ascii=False)
        yield Talk(name, text.encode(), file="session.json")


def _lines(name: str, write: Callable[[], list[list[Record]]]) -> Talk:
    head, *turns = write()
    early, later = turns[:-LATER], turns[-LATER:]
    first = _spelled([head, *early])
    # Spellings that a parser and a writer would not give back.
    odd = first.replace(b"\n", b"\r\n", 1) + b"\n"
    return Talk(name, odd, _spelled(later))


def _spelled(turns: list[list[Record]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for turn in turns for record in turn)


def _claude() -> list[list[Record]]:
    turns: list[list[Record]] = [[{"type": "file-history-snapshot", "messageId": "u0"}]]
    parent = None
    for n in range(TURNS):
        turns.append(
            [
                claude.user(f"u{n}", parent, _asked(n)),
                claude.called(f"a{n}", f"u{n}", f"c{n}"),
                claude.answered(f"r{n}", f"a{n}", f"c{n}", SOURCE),
                _claude_command(n),
                claude.answered(f"o{n}", f"b{n}", f"d{n}", _output(n)),
                claude.said(f"e{n}", f"o{n}", _answer(n)),
            ]
        )
        parent = f"e{n}"
    return turns


def _claude_command(n: int) -> Record:
    block = {"type": "tool_use", "id": f"d{n}", "name": "Bash", "input": {"command": f"make {n}"}}
    return claude.response_line(f"b{n}", f"r{n}", block, "")


def _codex() -> list[list[Record]]:
    meta = codex.record("session_meta", id="s", cwd="/app", base_instructions={"text": "Be brief."})
    return [[meta], *(_codex_turn(n) for n in range(TURNS))]


def _codex_turn(n: int) -> list[Record]:
    return [
        codex.message("user", _asked(n)),
        codex.call(f"c{n}", json.dumps({"cmd": "cat gate.py"})),
        codex.output(f"c{n}", f"Output:\n{SOURCE}"),
        codex.call(f"d{n}", json.dumps({"cmd": f"make {n}"})),
        codex.output(f"d{n}", f"Output:\n{_output(n)}"),
        codex.message("assistant", _answer(n)),
    ]


def _copilot() -> list[list[Record]]:
    head = [
        copilot.event("session.start", sessionId="s"),
        copilot.event("system.message", content="Be brief."),
    ]
    turns = [head, *(_copilot_turn(n) for n in range(TURNS))]
    whole = iter(copilot.session(*(event for turn in turns for event in turn)))
    return [[next(whole) for _ in turn] for turn in turns]


def _copilot_turn(n: int) -> list[Record]:
    return [
        copilot.prompt(_asked(n)),
        copilot.called(f"c{n}"),
        copilot.answered(f"c{n}", SOURCE),
        copilot.called(f"d{n}", "bash"),
        copilot.answered(f"d{n}", _output(n)),
        copilot.said(_answer(n)),
    ]


def _pi() -> list[list[Record]]:
    turns = [_pi_turn(n) for n in range(TURNS)]
    whole = iter(pi.chained(*(entry for turn in turns for entry in turn)))
    return [[pi.HEADER], *([next(whole) for _ in turn] for turn in turns)]


def _pi_turn(n: int) -> list[Record]:
    return [
        pi.prompt(_asked(n)),
        pi.called(f"c{n}"),
        pi.answered(f"c{n}", SOURCE),
        pi.called(f"d{n}"),
        pi.answered(f"d{n}", _output(n), toolName="bash"),
        pi.said(_answer(n)),
    ]


def _openai() -> list[list[Record]]:
    return [[openai.say("system", "Be brief.")], *(_openai_turn(n) for n in range(TURNS))]


def _openai_turn(n: int) -> list[Record]:
    read = openai.called(f"c{n}", arguments='{"path":"gate.py"}')
    run = openai.called(f"d{n}", "bash", json.dumps({"command": f"make {n}"}))
    return [
        openai.say("user", _asked(n)),
        openai.say("assistant", None, tool_calls=[read, run]),
        openai.answered(f"c{n}", SOURCE),
        openai.answered(f"d{n}", _output(n)),
        openai.say("assistant", _answer(n)),
    ]


def _anthropic() -> list[list[Record]]:
    return [[], *(_anthropic_turn(n) for n in range(TURNS))]


def _anthropic_turn(n: int) -> list[Record]:
    read = {"type": "tool_use", "id": f"c{n}", "name": "Read", "input": {"file_path": "gate.py"}}
    run = {"type": "tool_use", "id": f"d{n}", "name": "Bash", "input": {"command": f"make {n}"}}
    results = [
        {"type": "tool_result", "tool_use_id": f"c{n}", "content": SOURCE},
        {"type": "tool_result", "tool_use_id": f"d{n}", "content": _output(n)},
    ]
    return [
        {"role": "user", "content": _asked(n)},
        {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, read, run]},
        {"role": "user", "content": results},
        {"role": "assistant", "content": [{"type": "text", "text": _answer(n)}]},
    ]


def _neurolink() -> list[list[Record]]:
    return [[], *(_neurolink_turn(n) for n in range(TURNS))]


def _neurolink_turn(n: int) -> list[Record]:
    return [
        neurolink.note(f"u{n}", "user", _asked(n), timestamp="2026-01-02T03:04:05Z"),
        neurolink.called(f"c{n}", "readFile", 1, path="gate.py"),
        neurolink.answered(f"r{n}", "readFile", SOURCE, 1),
        neurolink.called(f"d{n}", "bash", 2, command=f"make {n}"),
        neurolink.answered(f"o{n}", "bash", _output(n), 2),
        neurolink.note(f"a{n}", "assistant", _answer(n), metadata={"modelUsed": "m-1"}),
    ]


def _opencode() -> object:
    messages = []
    for n in range(TURNS):
        read = opencode.tool(f"r{n}", "read", {"filePath": "/app/gate.py"}, output=SOURCE)
        run = opencode.tool(f"b{n}", "bash", {"command": f"make {n}"}, output=_output(n))
        messages += [
            opencode.user(opencode.message_id(3 * n), opencode.text(_asked(n))),
            opencode.assistant(
                opencode.message_id(3 * n + 1), opencode.text("Looking."), read, run
            ),
            opencode.assistant(opencode.message_id(3 * n + 2), opencode.text(_answer(n))),
        ]
    return {"info": {**opencode.SESSION, "directory": "/app"}, "messages": messages}


def _cline(environment: str = ENVIRONMENT) -> list[Record]:
    records = [cline.user("<task>\nWatch the lock gate.\n</task>", environment)]
    for n in range(TURNS):
        run = cline.call("execute_command", f"d{n}", command=f"make {n}")
        done = cline.call("attempt_completion", f"f{n}", result=_answer(n))
        records += [
            cline.assistant("Reading.", cline.call("read_file", f"c{n}", path="gate.py")),
            cline.user(f"[read_file for 'gate.py'] Result:\n{SOURCE}", environment),
            cline.assistant("Running.", run),
            cline.user(f"[execute_command for 'make {n}'] Result:\n{_output(n)}", environment),
            cline.assistant(done),
            cline.user(
                "[attempt_completion] Result:",
                f"<feedback>\n{_asked(n + 1)}\n</feedback>",
                environment,
            ),
        ]
    return records


def _roo() -> list[Record]:
    return [
        {**record, "ts": 1_769_064_454_592 + n} for n, record in enumerate(_cline(ROO_ENVIRONMENT))
    ]


_LINES: dict[str, Callable[[], list[list[Record]]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "copilot-cli": _copilot,
    "pi": _pi,
    "openai-chat": _openai,
    "anthropic-messages": _anthropic,
    "neurolink": _neurolink,
}
_DOCUMENTS: dict[str, Callable[[], object]] = {"opencode": _opencode, "cline": _cline, "roo": _roo}
TALKS = tuple(talks())
