"""The clients whose requests are recorded.

Another client is a file ``CLIENT_sessions`` beside this with its ``RULES``, an entry in
``RECORDED_CLIENTS``, its pieces in ``WIRES`` of ``pieces.py`` and, unless ``Client.take_in`` takes
a session in, its place in ``given.py``.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clients.completions import Cline, CopilotCli, Kilo, OpenCode
from clients.desk import Client, Desk
from clients.gemini import GeminiCli
from clients.given import claude_code_folder, model_of, placed, resumed_by
from clients.pieces import COPILOT_RESUMED, WIRES, Wire
from clients.qwen import QwenCode
from clients.recorded import (
    claude_code_sessions,
    cline_sessions,
    codex_sessions,
    copilot_cli_sessions,
    gemini_cli_sessions,
    kilo_sessions,
    opencode_sessions,
    pi_sessions,
    qwen_code_sessions,
)
from clients.recorded.claude_code_drafts import SESSION
from clients.recorded.requests import PROMPT
from clients.recorded.rules import Rule
from clients.running import ClaudeCode, Codex, Pi

Resume = Callable[[Rule[Any], bytes, Desk], str]


@dataclass(frozen=True, kw_only=True)
class RecordedClient:
    """A client, its rules, and how it goes on with a session, of which it returns what it prints.

    ``made_up`` are texts of the client itself that ``view`` need not show; None for all that stand
    nowhere in a session. Of the sessions ``unchecked`` it is said elsewhere that they differ.
    ``format`` is that of its sessions, "" for one that has the name of the client.
    """

    client: Client
    rules: Sequence[Rule[Any]]
    resume: Resume
    made_up: frozenset[str] | None = frozenset()
    unchecked: frozenset[str] = frozenset()
    format: str = ""

    @property
    def wire(self) -> Wire:
        """How its requests are read."""
        return WIRES[self.client.name]


def _resumed(client: Client) -> Resume:
    """Return how a client goes on with a session that lies in its file."""

    def resume(rule: Rule[Any], session: bytes, desk: Desk) -> str:
        placed_session = placed(client, session, desk)
        named = resumed_by(client, placed_session)
        return client.say(desk, PROMPT, session=named, limit=rule.limit)

    return resume


def _resume_claude_code(rule: Rule[Any], session: bytes, desk: Desk) -> str:
    path = desk.home / claude_code_folder(desk) / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(session)
    if rule.compacts:
        return ClaudeCode().ask(desk, PROMPT, SESSION, model_of(session), {})
    return ClaudeCode().say(desk, PROMPT, session=SESSION, limit=rule.limit)


def _resume_cline(rule: Rule[Any], session: bytes, desk: Desk) -> str:
    name = cline_sessions.SESSION
    folder = desk.home / ".cline" / "data" / "sessions" / name
    folder.mkdir(parents=True)
    path = folder / f"{name}.messages.json"
    path.write_bytes(session)
    manifest = {
        "version": 1,
        "session_id": name,
        "source": "cli",
        "pid": 1,
        "started_at": "2026-11-01T10:00:00.000Z",
        "status": "completed",
        "interactive": False,
        "provider": "openai-compatible",
        "model": "stub",
        "cwd": str(desk.project),
        "workspace_root": str(desk.project),
        "enable_tools": True,
        "enable_spawn": False,
        "enable_teams": False,
        "messages_path": str(path),
    }
    (folder / f"{name}.json").write_text(json.dumps(manifest))
    return Cline().say(desk, PROMPT, session=name, limit=rule.limit)


# What OpenCode says before pictures of results.
_BEFORE_PICTURES = frozenset({"Attached media from tool result:"})
RECORDED_CLIENTS: tuple[RecordedClient, ...] = (
    RecordedClient(
        client=ClaudeCode(),
        rules=claude_code_sessions.RULES,
        resume=_resume_claude_code,
        made_up=None,
        # It resumes no session of a subagent; and pairs a result with a call behind it.
        unchecked=frozenset({"only_a_sidechain", "result_before_its_call"}),
    ),
    RecordedClient(
        client=Codex(),
        rules=codex_sessions.RULES,
        resume=_resumed(Codex()),
        made_up=frozenset({"aborted", "(no summary available)"}),
    ),
    RecordedClient(
        client=Pi(),
        rules=pi_sessions.RULES,
        resume=_resumed(Pi()),
        made_up=frozenset({"No result provided"}),
    ),
    RecordedClient(
        client=GeminiCli(),
        rules=gemini_cli_sessions.RULES,
        resume=_resumed(GeminiCli()),
        made_up=frozenset({"[The previous response was interrupted before it completed.]"}),
        unchecked=frozenset({"empty_part_beside_others"}),
    ),
    RecordedClient(
        client=CopilotCli(),
        rules=copilot_cli_sessions.RULES,
        resume=_resumed(CopilotCli()),
        made_up=frozenset({WIRES["copilot-cli"].missing, COPILOT_RESUMED}),
        # It repeats a prompt that came while it compacted, gives a second call another id, and
        # puts the context of a handoff before the next prompt. It is asked here to go on with a
        # model of another provider. The last three it refuses.
        unchecked=frozenset(
            {"prompts_came", "second_call_with_the_id", "handoff"}
            | {"reasoning_of_another_provider"}
            | {"named_and_nowhere", "named_before_it_was_delivered"}
            | {"invoked_again_with_another_length"}
        ),
    ),
    RecordedClient(
        client=QwenCode(),
        rules=qwen_code_sessions.RULES,
        resume=_resumed(QwenCode()),
        made_up=frozenset({WIRES["qwen-code"].missing}),
        # They are refused as a whole, which compact says.
        unchecked=frozenset(
            {"without_role", "compaction_without_role", "compaction_that_is_a_text"}
        ),
    ),
    RecordedClient(
        client=Cline(),
        rules=cline_sessions.RULES,
        resume=_resume_cline,
        made_up=cline_sessions.MADE_UP,
    ),
    RecordedClient(
        client=OpenCode(),
        rules=opencode_sessions.RULES,
        resume=_resumed(OpenCode()),
        made_up=_BEFORE_PICTURES,
    ),
    RecordedClient(
        client=Kilo(),
        rules=kilo_sessions.RULES,
        resume=_resumed(Kilo()),
        made_up=_BEFORE_PICTURES,
        format="opencode",
    ),
)
