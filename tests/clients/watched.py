"""What the watch knows about each client: its package, its code, and how it is led.

Another client is a ``Watched`` here, with a folder of its own in ``recorded`` for its words.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from re import Match, finditer
from typing import Any

from clients.completions import Cline, CopilotCli, Kilo, OpenCode
from clients.desk import Client, Desk
from clients.gemini import GeminiCli
from clients.qwen import QwenCode
from clients.rewinding import rewind_claude_code, rewind_codex, rewind_kilo, rewind_opencode
from clients.running import ClaudeCode, Codex, Pi
from clients.stub import Answer, Json


@dataclass(frozen=True, kw_only=True)
class CodeWords:
    """Words that the code of a client has for one thing: what ``pattern`` captures.

    They stand in ``files``, which are below the packages or, with ``~``, below the home of a client
    that has unpacked itself there; with ``near`` only in as many bytes behind it as ``reach``.
    ``in_table`` tells whether they are kinds that stand in compactctl's tables, where CamelCase is
    written as snake_case.
    """

    name: str
    files: str
    pattern: bytes
    near: bytes = b""
    reach: int = 0
    in_table: bool = False

    def of(self, packages: Path, home: Path) -> frozenset[str]:
        """Return the words; none if the code is not where it was."""
        root, pattern = (home, self.files[2:]) if self.files[0] == "~" else (packages, self.files)
        paths = (path for path in root.glob(pattern) if path.stat().st_size)
        return frozenset(word for path in paths for word in self._words_in(path))

    def _words_in(self, path: Path) -> Iterator[str]:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as code:
            for part in self._parts(code):
                yield from (_captured(match) for match in finditer(self.pattern, part))

    def _parts(self, code: mmap) -> Iterator[mmap | bytes]:
        if not self.near:
            yield code
            return
        start = code.find(self.near)
        while start >= 0:
            yield code[start : start + self.reach]
            start = code.find(self.near, start + 1)


def _captured(match: Match[bytes]) -> str:
    return next(group for group in match.groups() if group is not None).decode()


@dataclass(frozen=True, kw_only=True)
class Watched:
    """A client, and what of it may change.

    ``runs`` are the tool that runs a command, and its argument; ``show`` is the tool for pictures,
    if ``Client.read`` is not. A record says what it is at ``kinds``; ``tables`` is the package of
    compactctl whose tables name them, if it has another name. ``files`` are the sessions below the
    home where a rewind makes another one; ``rewind`` takes the last turn back and returns what the
    client said. ``no_rewind`` and ``no_compaction`` say why it does not do so here.
    """

    client: Client
    package: str
    words: tuple[CodeWords, ...]
    runs: tuple[str, str]
    other_model: str
    kinds: tuple[tuple[str, ...], ...] = (("type",),)
    records: Callable[[Desk, str], Iterable[Json]]
    tables: str = ""
    files: str = ""
    show: tuple[str, str] | None = None
    rewind: Callable[[Desk, str], str] | None = None
    no_rewind: str = ""
    no_compaction: str = ""

    def sessions(self, desk: Desk) -> list[str]:
        """Return the session that was led, or what it has become."""
        if not self.files:
            return [self.client.session(desk)]
        return sorted(map(str, desk.home.glob(self.files)))

    def picture(self, path: Path) -> Answer:
        """Return the call of its tool that shows a picture."""
        if self.show is None:
            return self.client.read(path)
        return Answer(tool=self.show[0], arguments={self.show[1]: str(path)})

    def run(self, command: str) -> Answer:
        """Return the call of its tool that runs a command."""
        tool, argument = self.runs
        arguments: Any = [command] if argument.endswith("s") else command
        more = {"description": "Wait"} if tool == "bash" else {}
        return Answer(tool=tool, arguments={argument: arguments, **more})


def lines(_: Desk, session: str) -> Iterator[Json]:
    """Yield the records of a session that is JSON Lines."""
    yield from map(json.loads, Path(session).read_text().splitlines())


def _documents(_: Desk, session: str) -> Iterator[Json]:
    """Yield the messages of Cline's session, and the documents around them."""
    for path in sorted(Path(session).parent.glob("*.json")):
        document = json.loads(path.read_text())
        yield {"type": path.name.removeprefix(path.parent.name).lstrip("."), **document}
        for message in document.get("messages", ()):
            yield {"type": f"message {message['role']}", **message}


def _rows(folder: str) -> Callable[[Desk, str], Iterator[Json]]:
    """Return how the messages and parts of a session are read from a database."""

    def rows(desk: Desk, session: str) -> Iterator[Json]:
        path = next((desk.home / ".local" / "share" / folder).glob("*.db"))
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            for table in ("message", "part"):
                query = f"select data from {table} where session_id = ?"  # noqa: S608
                for (data,) in database.execute(query, [session]):
                    yield json.loads(data)

    return rows


_CLAUDE = "@anthropic-ai/claude-code-*/claude"
_CODEX = "@openai/codex-*/vendor/*/bin/codex"
_COPILOT = "~/.cache/copilot/pkg/*/*"
_GEMINI = "@google/gemini-cli/bundle/chunk-*.js"
_QWEN = "@qwen-code/qwen-code/chunks/*.js"
_PI = "@earendil-works/pi-coding-agent/dist/core/"


def _steps(files: str, *names: str) -> CodeWords:
    """Return the names of a client's own steps that its tables give."""
    pattern = rb"\b(" + "|".join(names).encode() + rb")\b"
    return CodeWords(name="steps", files=files, pattern=pattern)


def _opencode_words(code: str) -> tuple[CodeWords, ...]:
    """Return the words of OpenCode and its relatives."""
    return (
        CodeWords(
            name="parts and messages", files=code, pattern=rb'identifier:"(\w*(?:Part|Message))"'
        ),
        CodeWords(
            name="fields of parts",
            files=code,
            pattern=rb"[{,](\w+):(?:\w+\.)?[A-Za-z_$]",
            near=b'("snapshot"),snapshot:',
            reach=4_500,
        ),
        CodeWords(
            name="steps",
            files=code,
            pattern=rb"(\w+):\(\)=>",
            near=b"toModelMessagesEffect:()=>",
            reach=350,
        ),
    )


WATCHED = (
    Watched(
        client=ClaudeCode(),
        package="@anthropic-ai/claude-code",
        words=(
            CodeWords(
                name="records",
                files=_CLAUDE,
                pattern=rb'[{,]"?([\w-]+)"?:"(?:transcript|boundary-cleared|accumulate|last-wins)"',
                near=b'={user:"transcript",',
                reach=2_500,
                in_table=True,
            ),
            CodeWords(
                name="subtypes",
                files=_CLAUDE,
                pattern=rb'type:(?:\w+\()?"system"\)?,subtype:(?:\w+\()?"(\w+)"',
                in_table=True,
            ),
            CodeWords(
                name="attachments",
                files=_CLAUDE,
                pattern=rb'[{,](\w+):(?:"(?:harness|local|names|recorded|undecided)"|\((?:\w*|{.{1,40}?)\)=>)',
                near=b"{queued_command:(",
                reach=5_000,
                in_table=True,
            ),
            _steps(
                _CLAUDE,
                "processEntry",
                "normalizeAttachmentForAPI",
                "dropPreBoundaryEntries",
                "preserveTrailingThinking",
                "toolResultCuts",
                "thinkingStripPlan",
                "advisorStripPlan",
                "preservedSegment",
                "preservedMessages",
                "logicalParentUuid",
                "retractedMessageUuids",
                "sourceToolAssistantUUID",
            ),
        ),
        runs=("Bash", "command"),
        other_model="claude-opus-4-5-20251101",
        kinds=(("type",), ("subtype",), ("attachment", "type")),
        records=lines,
        rewind=rewind_claude_code,
    ),
    Watched(
        client=Codex(),
        package="@openai/codex",
        words=(
            CodeWords(
                name="records",
                files=_CODEX,
                pattern=rb"struct variant RolloutItemWire::(\w+) with",
                in_table=True,
            ),
            CodeWords(
                name="items",
                files=_CODEX,
                pattern=rb"struct variant ResponseItem::(\w+) with",
                in_table=True,
            ),
            CodeWords(
                name="retained context",
                files=_CODEX,
                pattern=rb"struct variant RetainedContextEvent::(\w+) with",
            ),
            CodeWords(
                name="steps",
                files=_CODEX,
                pattern=rb"((?:core|rollout)/src/(?:session|context_manager|compact|recorder)\w*(?:/\w+)?\.rs)",
            ),
        ),
        runs=("exec_command", "cmd"),
        other_model="gpt-5.2",
        kinds=(("type",), ("payload", "type")),
        records=lines,
        files=".codex/sessions/*/*/*/*.jsonl",
        show=("view_image", "path"),
        rewind=rewind_codex,
    ),
    Watched(
        client=Pi(),
        package="@earendil-works/pi-coding-agent",
        words=(
            CodeWords(
                name="entries",
                files=f"{_PI}session-manager.d.ts",
                pattern=rb'type: "(\w+)"',
                in_table=True,
            ),
            CodeWords(
                name="roles",
                files=f"{_PI}messages.d.ts",
                pattern=rb'role: "(\w+)"',
                in_table=True,
            ),
            CodeWords(
                name="steps",
                files=f"{_PI}*s*.d.ts",
                pattern=rb"declare function (\w*(?:[sS]ession|[mM]essage|Context|Llm|Entr)\w*)",
            ),
            CodeWords(
                name="steps of its models",
                files="@earendil-works/pi-ai/dist/api/*.js",
                pattern=rb"function (transformMessages)\b",
            ),
        ),
        runs=("bash", "command"),
        other_model="claude-opus-4-5",
        kinds=(("type",), ("message", "role")),
        records=lines,
        no_rewind="it goes back on its screen only",
    ),
    Watched(
        client=OpenCode(),
        package="opencode-ai",
        words=_opencode_words("opencode-ai/bin/opencode.exe"),
        runs=("bash", "command"),
        other_model="other",
        kinds=(("role",), ("type",)),
        records=_rows("opencode"),
        rewind=rewind_opencode,
    ),
    Watched(
        client=Kilo(),
        package="@kilocode/cli",
        words=_opencode_words("@kilocode/cli-*/bin/kilo"),
        runs=("bash", "command"),
        other_model="other",
        kinds=(("role",), ("type",)),
        records=_rows("kilo"),
        tables="opencode",
        rewind=rewind_kilo,
    ),
    Watched(
        client=CopilotCli(),
        package="@github/copilot",
        words=(
            CodeWords(
                name="events",
                files=f"{_COPILOT}/schemas/session-events.schema.json",
                pattern=rb'"const":\s*"(\w+(?:\.\w+)+)"',
                in_table=True,
            ),
        ),
        runs=("bash", "command"),
        other_model="other",
        records=lines,
        show=("view", "path"),
        no_rewind="it goes back on its screen only",
    ),
    Watched(
        client=Cline(),
        package="cline",
        words=(
            CodeWords(
                name="blocks",
                files="@cline/shared/dist/llms/messages.d.ts",
                pattern=rb'(?:type|role): "([\w-]+)"',
            ),
            CodeWords(
                name="fields",
                files="@cline/shared/dist/llms/messages.d.ts",
                pattern=rb"(?m)^\s+(\w+)\??:",
            ),
        ),
        runs=("run_commands", "commands"),
        other_model="other",
        records=_documents,
        no_rewind="it goes back on its screen only",
        no_compaction="it compacts on its screen only",
    ),
    Watched(
        client=GeminiCli(),
        package="@google/gemini-cli",
        words=(
            CodeWords(
                name="records",
                files=_GEMINI,
                pattern=rb'(?:type2? ===|type:) "(\w+)"|\.(\$\w+)',
                near=b"async function loadConversationRecord(",
                reach=40_000,
            ),
            CodeWords(
                name="steps",
                files=_GEMINI,
                pattern=rb"\n  (?:async )?(\w+)\(.*\) \{",
                near=b"var ChatRecordingService = class",
                reach=30_000,
            ),
        ),
        runs=("run_shell_command", "command"),
        other_model="gemini-2.5-flash",
        records=lines,
        no_rewind="it goes back on its screen only",
    ),
    Watched(
        client=QwenCode(),
        package="@qwen-code/qwen-code",
        words=(
            CodeWords(
                name="records",
                files=_QWEN,
                pattern=rb'\n  "(\w+)"',
                near=b"var RECORD_TYPES = ",
                reach=100,
                in_table=True,
            ),
            CodeWords(
                name="subtypes",
                files=_QWEN,
                pattern=rb'\n  "(\w+)"',
                near=b"_RECORD_SUBTYPES = ",
                reach=850,
                in_table=True,
            ),
            CodeWords(
                name="steps",
                files=_QWEN,
                pattern=rb"function (\w*(?:ApiHistory|TranscriptConversation)\w*)",
            ),
        ),
        runs=("run_shell_command", "command"),
        other_model="other",
        kinds=(("type",), ("subtype",)),
        records=lines,
        no_rewind="it goes back on its screen only",
    ),
)
