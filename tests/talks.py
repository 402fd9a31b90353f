"""Small sessions of every format that is written, which their clients continue in their own way.

Every turn reads the same file and runs a command, so that each stage finds something.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from formats import neurolink_talk as neurolink
from formats import openai_talk as openai
from formats.agent_code import sessions as agent_code
from formats.claude_code import sessions as claude
from formats.cline import tasks as cline
from formats.codex import rollouts as codex
from formats.copilot_cli import sessions as copilot
from formats.gemini_cli import talks as gemini
from formats.opencode import sessions as opencode
from formats.pi import sessions as pi
from formats.qwen_code import sessions as qwen
from formats.spring_ai import events as spring

Record = dict[str, Any]
Turn = Callable[[int, Sequence[Record]], list[Record]]

UNTERMINATED = 4
"""The style of a session whose last line has no end yet."""
FILE = "\n".join(f"LEVEL_{n} = {n * 17 % 23}  # centimetres above the sill" for n in range(12))
ENVIRONMENT = cline.ENVIRONMENT.replace("/work/app", "/app")
ROO_ENVIRONMENT = (
    "<environment_details>\n# Current Mode\n<slug>code</slug>\n<model>m-1</model>\n\n"
    "# Current Workspace Directory (/app) Files\ngate.py\n</environment_details>"
)


@dataclass(frozen=True, kw_only=True)
class Talk:
    """How a client stores a session.

    ``turn`` returns the records of a turn by its number; it sees the records before it, as each may
    name the one before. ``compaction`` returns those of a compaction by the client. ``head`` are
    the first records; in a document, ``around`` is what stands around the list called ``messages``,
    None for a bare list. A session that ``is_stored`` is in the store of its client, below the home
    that ``home`` is.
    """

    name: str
    turn: Turn
    head: Sequence[Record] = ()
    compaction: Turn | None = None
    is_document: bool = False
    around: Mapping[str, Any] | None = None
    file: str = ""
    native: bool = False
    is_stored: bool = False

    @property
    def path(self) -> str:
        """The name of the file."""
        return self.file or ("session.json" if self.is_document else "session.jsonl")

    def begin(self, turns: int, style: int) -> bytes:
        """Return a session of so many turns."""
        records = list(self.head)
        for number in range(turns):
            records += self.turn(number, records)
        return self.written(records, style)

    def written(self, records: Sequence[Record], style: int, value: Any = None) -> bytes:
        """Return a whole file; a document keeps what stands around the records in ``value``."""
        if not self.is_document:
            data = b"".join(map(line, records))
            return data.removesuffix(b"\n") if style == UNTERMINATED else data
        around = value if isinstance(value, dict) else self.around
        whole = records if around is None else {**around, "messages": records}
        return document(whole, style)

    def records(self, data: bytes) -> list[Record]:
        """Return the records of a file."""
        if not self.is_document:
            return [json.loads(each) for each in data.splitlines() if each.strip()]
        whole = json.loads(data)
        found: list[Record] = whole["messages"] if isinstance(whole, dict) else whole
        return found

    def is_renamed(self, data: bytes, renamed: bytes) -> bool:
        """Tell whether a new session says the same as another: but for ids and its first record."""
        same = (_RENAMED.sub(b"", line) for line in renamed.splitlines())
        return all(_RENAMED.sub(b"", line) in same for line in data.splitlines()[1:] if line)

    def added(self, data: bytes, number: int) -> list[Record]:
        """Return the next turn of a session, which has that number."""
        return self.turn(number, self.records(data))

    def extended(self, data: bytes, records: Sequence[Record], style: int) -> bytes:
        """Return the file as the client leaves it after more records."""
        if not self.is_document:
            end = b"" if data.endswith(b"\n") or not data else b"\n"
            return data + end + b"".join(map(line, records))
        return self.written([*self.records(data), *records], style, json.loads(data))


_RENAMED = re.compile(rb'"sessionId": ?"[^"]*"|"ordinal": ?\d+|"[0-9a-f-]{36}"')


def line(record: Record) -> bytes:
    """Return a record as a line."""
    return json.dumps(record).encode() + b"\n"


def document(value: object, style: int) -> bytes:
    """Return a document as one of several serializers writes it."""
    match style % 5:
        case 0:
            return json.dumps(value, indent=2).encode()
        case 1:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        case 2:
            return json.dumps(value, indent="\t", ensure_ascii=False).encode() + b"\n"
        case 3:
            return json.dumps(value, indent=4, sort_keys=True).encode() + b"\n"
        case _:
            return json.dumps(value).encode()


def asked(number: int) -> str:
    """Return what a person says."""
    return f"Check the gate once more, part {number}: is level {number} right? \u2603 \U0001f6a2"


def printed(number: int) -> str:
    """Return what a tool says."""
    return f"run {number}: " + "sluice and gate agree; " * 12


def answer(number: int) -> str:
    """Return what the model says."""
    return f"Level {number} is right; I changed nothing in gate.py."


def _last(records: Sequence[Record], name: str) -> Any:
    return next((each[name] for each in reversed(records) if each.get(name)), None)


def _claude(n: int, before: Sequence[Record]) -> list[Record]:
    records = [
        claude.user(f"u{n}", _last(before, "uuid"), asked(n)),
        claude.called(f"a{n}", f"u{n}", f"c{n}"),
        claude.answered(f"r{n}", f"a{n}", f"c{n}", FILE),
        claude.response_line(
            f"b{n}", f"r{n}", {"type": "tool_use", "id": f"d{n}", "name": "Bash",
                               "input": {"command": f"make {n}"}}, ""),
        claude.answered(f"o{n}", f"b{n}", f"d{n}", printed(n)),
        claude.record("progress", f"p{n}", f"o{n}", data={"type": "hook_progress"}),
        claude.said(f"e{n}", f"p{n}", answer(n)),
    ]  # fmt: skip
    return [{**each, "version": "2.1.197"} for each in records]


def _claude_compacts(n: int, before: Sequence[Record]) -> list[Record]:
    return [
        claude.boundary(f"k{n}", _last(before, "uuid"), preTokens=9_000),
        claude.summarized(f"s{n}", f"k{n}", "So far, every level was right."),
    ]


def _codex(n: int, _: Sequence[Record]) -> list[Record]:
    return [
        codex.message("user", asked(n)),
        codex.call(f"c{n}", json.dumps({"cmd": "cat gate.py"})),
        codex.output(f"c{n}", f"Output:\n{FILE}"),
        codex.call(f"d{n}", json.dumps({"cmd": f"make {n}"})),
        codex.output(f"d{n}", f"Output:\n{printed(n)}"),
        codex.message("assistant", answer(n)),
    ]


def _codex_compacts(n: int, _: Sequence[Record]) -> list[Record]:
    text = f"So far, every level was right ({n})."
    summary = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return [codex.record("compacted", message=text, replacement_history=[summary])]


def _numbered(turn: Turn, n: int, before: Sequence[Record]) -> list[Record]:
    return [
        {**record, "ordinal": ordinal}
        for ordinal, record in enumerate(turn(n, before), len(before))
    ]


def _pi(n: int, before: Sequence[Record]) -> list[Record]:
    said = (
        pi.prompt(asked(n)),
        pi.called(f"c{n}"),
        pi.answered(f"c{n}", FILE),
        pi.called(f"d{n}"),
        pi.answered(f"d{n}", printed(n), toolName="bash"),
        pi.said(answer(n)),
    )
    parent = before[-1]["id"] if len(before) > 1 else None
    return pi.chained(*said, first=1_000 * (n + 1), parent=parent)


def _pi_compacts(n: int, before: Sequence[Record]) -> list[Record]:
    kept = [each for each in before if each.get("type") == "message"][-2:]
    entry = pi.entry(
        "compaction", summary="Every level was right.", firstKeptEntryId=kept[0]["id"],
        tokensBefore=9_000,
    )  # fmt: skip
    return pi.chained(entry, first=1_000 * (n + 1), parent=before[-1]["id"])


def _copilot(n: int, before: Sequence[Record]) -> list[Record]:
    events = [
        copilot.prompt(asked(n)),
        copilot.called(f"c{n}"),
        copilot.answered(f"c{n}", FILE),
        copilot.called(f"d{n}", "bash"),
        copilot.answered(f"d{n}", printed(n)),
        copilot.event("hook.end", success=True),
        copilot.said(answer(n)),
    ]
    return _chained_events(events, n, before)


def _copilot_compacts(n: int, before: Sequence[Record]) -> list[Record]:
    done = copilot.event(
        "session.compaction_complete", success=True, summaryContent="Every level was right."
    )
    return _chained_events([done], n, before)


def _stored_copilot(turn: Turn, n: int, before: Sequence[Record]) -> list[Record]:
    """Return events that the client accepts."""
    return [copilot.accepted(each) for each in turn(n, before)]


def _chained_events(events: Sequence[Record], n: int, before: Sequence[Record]) -> list[Record]:
    named = [{**each, "id": f"e{n}-{at}"} for at, each in enumerate(events)]
    parents = [_last(before, "id"), *(each["id"] for each in named)]
    return [{**each, "parentId": p} for each, p in zip(named, parents, strict=False)]


def _gemini(n: int, _: Sequence[Record]) -> list[Record]:
    reads = gemini.tool(f"r{n}", "read_file", {"file_path": "/work/app/gate.py"},
                        gemini.answered(f"r{n}", "read_file", output=FILE))  # fmt: skip
    runs = gemini.tool(
        f"b{n}", "run_shell_command", {"command": f"make {n}"},
        gemini.answered(f"b{n}", "run_shell_command", output=printed(n)),
    )  # fmt: skip
    return [
        gemini.user(f"u{n}", asked(n)),
        gemini.gemini(f"g{n}", "Reading first.", reads, runs),
        gemini.gemini(f"h{n}", answer(n)),
    ]


def _qwen(n: int, before: Sequence[Record]) -> list[Record]:
    return qwen.chained(
        qwen.user(f"u{n}", None, asked(n)),
        qwen.model(f"g{n}", None, "Reading first.", qwen.called(f"r{n}", path="gate.py")),
        qwen.user(f"s{n}", None, qwen.answered(f"r{n}", output=FILE)),
        qwen.model(f"h{n}", None, qwen.called(f"b{n}", "run_shell_command", command=f"make {n}")),
        qwen.user(f"t{n}", None, qwen.answered(f"b{n}", "run_shell_command", output=printed(n))),
        qwen.model(f"a{n}", None, answer(n)),
        parent=_last(before, "uuid"),
    )


def _qwen_compacts(n: int, before: Sequence[Record]) -> list[Record]:
    return [qwen.compacted(f"k{n}", _last(before, "uuid"), f"Every level was right ({n}).")]


def _openai(n: int, _: Sequence[Record]) -> list[Record]:
    read = openai.called(f"c{n}", arguments='{"path":"gate.py"}')
    run = openai.called(f"d{n}", "bash", json.dumps({"command": f"make {n}"}))
    return [
        openai.say("user", asked(n)),
        openai.say("assistant", None, tool_calls=[read, run]),
        openai.answered(f"c{n}", FILE),
        openai.answered(f"d{n}", printed(n)),
        openai.say("assistant", answer(n)),
    ]


def _anthropic(n: int, _: Sequence[Record]) -> list[Record]:
    read = {"type": "tool_use", "id": f"c{n}", "name": "Read", "input": {"file_path": "gate.py"}}
    run = {"type": "tool_use", "id": f"d{n}", "name": "Bash", "input": {"command": f"make {n}"}}
    results = [
        {"type": "tool_result", "tool_use_id": f"c{n}", "content": FILE},
        {"type": "tool_result", "tool_use_id": f"d{n}", "content": printed(n)},
    ]
    return [
        {"role": "user", "content": asked(n)},
        {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, read, run]},
        {"role": "user", "content": results},
        {"role": "assistant", "content": [{"type": "text", "text": answer(n)}]},
    ]


def _neurolink(n: int, _: Sequence[Record]) -> list[Record]:
    return [
        neurolink.note(f"u{n}", "user", asked(n), timestamp="2026-01-02T03:04:05Z"),
        neurolink.called(f"c{n}", "readFile", 1, path="gate.py"),
        neurolink.answered(f"r{n}", "readFile", FILE, 1),
        neurolink.called(f"d{n}", "bash", 2, command=f"make {n}"),
        neurolink.answered(f"o{n}", "bash", printed(n), 2),
        neurolink.note(f"a{n}", "assistant", answer(n), metadata={"modelUsed": "m-1"}),
    ]


def _spring(n: int, _: Sequence[Record]) -> list[Record]:
    calls = [spring.call(f"c{n}", "read", path="gate.py"), spring.call(f"d{n}", "bash")]
    answers = [spring.answer(f"c{n}", "read", FILE), spring.answer(f"d{n}", "bash", printed(n))]
    return [
        spring.event(f"u{n}", "USER", asked(n)),
        spring.event(f"a{n}", "ASSISTANT", "Reading.", calls=calls),
        spring.event(f"r{n}", "TOOL", answers=answers),
        spring.event(f"e{n}", "ASSISTANT", answer(n)),
    ]


def _agent_code(n: int, _: Sequence[Record]) -> list[Record]:
    def name(part: int) -> str:
        return f"00000000-0000-4000-8000-{10 * n + part:012}"

    read = agent_code.use(f"c{n}", "FileRead", file_path="gate.py")
    run = agent_code.use(f"d{n}", "Bash", command=f"make {n}")
    return [
        agent_code.user(name(1), agent_code.text(asked(n))),
        agent_code.said(name(2), agent_code.text("Reading."), read, run),
        agent_code.user(
            name(3), agent_code.result(f"c{n}", FILE), agent_code.result(f"d{n}", printed(n)),
            is_meta=True,
        ),
        agent_code.said(name(4), agent_code.text(answer(n))),
    ]  # fmt: skip


def _opencode(n: int, _: Sequence[Record]) -> list[Record]:
    read = opencode.tool(f"r{n}", "read", {"filePath": "/app/gate.py"}, output=FILE)
    run = opencode.tool(f"b{n}", "bash", {"command": f"make {n}"}, output=printed(n))
    messages = (
        opencode.user(opencode.message_id(3 * n), opencode.text(asked(n))),
        opencode.assistant(opencode.message_id(3 * n + 1), opencode.text("Looking."), read, run),
        opencode.assistant(opencode.message_id(3 * n + 2), opencode.text(answer(n))),
    )
    return [
        {**each, "info": {**each["info"], "time": {"created": opencode.CREATED + 3_000 * n + at}}}
        for at, each in enumerate(messages)
    ]


def _cline(environment: str, n: int, _: Sequence[Record]) -> list[Record]:
    run = cline.call("execute_command", f"d{n}", command=f"make {n}")
    records = [
        cline.assistant("Reading.", cline.call("read_file", f"c{n}", path="gate.py")),
        cline.user(f"[read_file for 'gate.py'] Result:\n{FILE}", environment),
        cline.assistant("Running.", run),
        cline.user(f"[execute_command for 'make {n}'] Result:\n{printed(n)}", environment),
        cline.assistant(cline.call("attempt_completion", f"f{n}", result=answer(n))),
        cline.user(
            "[attempt_completion] Result:",
            f"<feedback>\n{asked(n + 1)}\n</feedback>",
            environment,
        ),
    ]
    if environment == ENVIRONMENT:
        return records
    return [{**each, "ts": 1_769_064_454_592 + 10 * n + at} for at, each in enumerate(records)]


_TASK = cline.user("<task>\nWatch the lock gate.\n</task>", ENVIRONMENT)
_ROO_TASK = cline.user(
    "<task>\nWatch the lock gate.\n</task>", ROO_ENVIRONMENT, ts=1_769_064_454_000
)
_SYSTEM = openai.say("system", "Be brief.")
_META = codex.record(
    "session_meta",
    id="s",
    cwd="/app",
    cli_version="0.169.0",
    base_instructions={"text": "Be brief."},
)
_OPENED = copilot.session(
    copilot.event("session.start", sessionId="s"),
    copilot.event("system.message", content="Be brief."),
)

_ID = "6f1d2c3b-aaaa-4bbb-8ccc-123456789abc"


def _stored(turn: Turn, n: int, before: Sequence[Record]) -> list[Record]:
    """Return records of Claude Code with the id that the session has."""
    own = _last(before, "sessionId") or _ID
    return [{**each, "sessionId": own} for each in turn(n, before)]


_SESSIONS: Sequence[Talk] = (
    Talk(
        name="stored claude-code",
        turn=partial(_stored, _claude),
        head=[{"type": "file-history-snapshot", "messageId": "u0"}],
        compaction=partial(_stored, _claude_compacts),
        native=True,
        is_stored=True,
        file=f"home/.claude/projects/-w/{_ID}.jsonl",
    ),
    Talk(
        name="stored codex",
        turn=partial(_numbered, _codex),
        head=[{**_META, "payload": {**_META["payload"], "id": _ID}, "ordinal": 0}],
        compaction=partial(_numbered, _codex_compacts),
        native=True,
        is_stored=True,
        file=f"home/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{_ID}.jsonl",
    ),
    Talk(
        name="stored pi",
        turn=_pi,
        head=[{**pi.HEADER, "id": _ID}],
        compaction=_pi_compacts,
        native=True,
        is_stored=True,
        file=f"home/.pi/agent/sessions/--w--/2026-01-02T03-04-05-006Z_{_ID}.jsonl",
    ),
    Talk(
        name="stored copilot-cli",
        turn=partial(_stored_copilot, _copilot),
        head=list(
            map(
                copilot.accepted,
                copilot.session(
                    copilot.event("session.start", sessionId=_ID, context={"cwd": "/w"}),
                    copilot.event("system.message", content="Be brief."),
                ),
            )
        ),
        compaction=partial(_stored_copilot, _copilot_compacts),
        is_stored=True,
        file=f"home/.copilot/session-state/{_ID}/events.jsonl",
    ),
)
TALKS: Sequence[Talk] = (
    *_SESSIONS,
    Talk(
        name="claude-code",
        turn=_claude,
        head=[{"type": "file-history-snapshot", "messageId": "u0"}],
        compaction=_claude_compacts,
        native=True,
    ),
    Talk(name="codex", turn=_codex, head=[_META], compaction=_codex_compacts, native=True),
    Talk(
        name="codex numbered",
        turn=partial(_numbered, _codex),
        head=[{**_META, "ordinal": 0}],
        compaction=partial(_numbered, _codex_compacts),
        native=True,
    ),
    Talk(name="pi", turn=_pi, head=[pi.HEADER], compaction=_pi_compacts, native=True),
    Talk(name="copilot-cli", turn=_copilot, head=_OPENED, compaction=_copilot_compacts),
    Talk(
        name="gemini-cli",
        turn=_gemini,
        head=[gemini.SESSION, gemini.user("u", gemini.CONTEXT)],
    ),
    Talk(name="qwen-code", turn=_qwen, compaction=_qwen_compacts),
    Talk(name="openai-chat", turn=_openai, head=[_SYSTEM]),
    Talk(name="anthropic-messages", turn=_anthropic),
    Talk(name="neurolink", turn=_neurolink),
    Talk(name="spring-ai", turn=_spring),
    Talk(name="openai-chat array", turn=_openai, head=[_SYSTEM], is_document=True),
    Talk(name="neurolink array", turn=_neurolink, is_document=True),
    Talk(
        name="agent-code",
        turn=_agent_code,
        is_document=True,
        around={"id": "x", "cwd": "/w", "model": "claude-sonnet-4-5"},
    ),
    Talk(
        name="roo",
        turn=partial(_cline, ROO_ENVIRONMENT),
        head=[_ROO_TASK],
        is_document=True,
        file="api_conversation_history.json",
    ),
    Talk(name="cline", turn=partial(_cline, ENVIRONMENT), head=[_TASK], is_document=True),
    Talk(
        name="gemini-cli document",
        turn=_gemini,
        head=[gemini.user("u", gemini.CONTEXT)],
        is_document=True,
        around=gemini.SESSION,
    ),
    Talk(
        name="opencode",
        turn=_opencode,
        is_document=True,
        around={"info": {**opencode.SESSION, "directory": "/app"}},
    ),
)


@dataclass(frozen=True, slots=True)
class TalkFile:
    """A file of a format, and the lines that its client appends to it later.

    ``later`` is empty where clients write the whole document anew.
    """

    format: str
    data: bytes
    later: bytes = b""
    file: str = "session.jsonl"


def _file_of(talk: Talk) -> TalkFile:
    """Return three turns of a talk as a file, and one that comes later."""
    if talk.is_document:
        return TalkFile(talk.name, talk.begin(4, style=2), file="session.json")
    data = talk.begin(3, style=0)
    later = b"".join(map(line, talk.added(data, 3)))
    # Spellings that a parser and a writer would not restore.
    return TalkFile(talk.name, data.replace(b"\n", b"\r\n", 1) + b"\n", later)


TALK_FILES = tuple(_file_of(talk) for talk in TALKS if " " not in talk.name)
"""One file of each format."""
