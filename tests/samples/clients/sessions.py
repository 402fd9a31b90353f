"""Sessions of every client and format, invented: written where a test looks for files.

``python tests/samples/clients/sessions.py FOLDER`` writes them to look at.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from samples.clients import (
    agent_code,
    apis,
    claude_code,
    cline,
    codex,
    copilot_cli,
    gemini_cli,
    memories,
    mini_swe_agent,
    opencode,
    pi,
    qwen_code,
    vscode_chat,
)

_BY_CLIENT: Mapping[str, Mapping[str, Callable[[], bytes]]] = {
    "agent-code": agent_code.SESSIONS,
    "claude-code": claude_code.SESSIONS,
    "cline": cline.SESSIONS,
    "codex": codex.SESSIONS,
    "copilot-cli": copilot_cli.SESSIONS,
    "gemini-cli": gemini_cli.SESSIONS,
    "mini-swe-agent": mini_swe_agent.SESSIONS,
    "neurolink": memories.NEUROLINK_SESSIONS,
    "opencode": opencode.SESSIONS,
    "pi": pi.SESSIONS,
    "qwen-code": qwen_code.SESSIONS,
    "roo": cline.ROO_SESSIONS,
    "spring-ai": memories.SPRING_SESSIONS,
    "vscode-copilot-chat": vscode_chat.SESSIONS,
}
SESSIONS: Mapping[str, Callable[[], bytes]] = apis.SESSIONS | {
    f"{client}/{name}": build
    for client, sessions in _BY_CLIENT.items()
    for name, build in sessions.items()
}
"""How each file is built, by its name; the folder is that of its format."""


def write_sessions(folder: Path) -> None:
    """Write each session below a folder."""
    for name, build in SESSIONS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(build())


if __name__ == "__main__":
    write_sessions(Path(sys.argv[1]))
