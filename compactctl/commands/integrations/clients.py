"""The clients that compactctl sets up: what each is given, and how it takes what a hook says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from compactctl.store.places import Machine, claude_code, codex, opencode_settings, pi

HookAnswer = Literal["decision", "continue", "text"]
"""JSON whose ``decision`` refuses, JSON whose ``continue`` does, or a text for our own code."""

# Events as Claude Code calls them, and Codex as well; what is written for others says the same.
BEFORE, AFTER, STARTED = "PreCompact", "PostCompact", "SessionStart"
_SKILL = Path("skills") / "compactctl" / "SKILL.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFiles:
    """What a client is given.

    ``files`` are files of ours, from their names here to their places; ``settings`` is the file
    whose entries are edited, None for a client that has none for hooks. ``notes`` say what is left
    to the person.
    """

    files: Mapping[str, Path]
    settings: Path | None = None
    has_status_line: bool = False
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """A client: its name, what it is given on a machine, and how it takes an answer.

    ``tells_agent`` says that its agent hears what is said after a compaction; those of others hear
    what is said when a session starts.
    """

    client: str
    files: Callable[[Machine], ClientFiles]
    answer: HookAnswer
    tells_agent: bool = False


def _claude_code(machine: Machine) -> ClientFiles:
    home = claude_code(machine)
    return ClientFiles(
        files={"SKILL.md": home / _SKILL}, settings=home / "settings.json", has_status_line=True
    )


def _codex(machine: Machine) -> ClientFiles:
    home = codex(machine)
    return ClientFiles(
        files={"SKILL.md": home / _SKILL},
        settings=home / "hooks.json",
        notes=("Codex runs new hooks once they are trusted: type /hooks in it",),
    )


def _opencode(machine: Machine) -> ClientFiles:
    home = opencode_settings(machine)
    plugin = home / "plugins" / "compactctl.js"
    return ClientFiles(files={"SKILL.md": home / _SKILL, "opencode.js": plugin})


def _pi(machine: Machine) -> ClientFiles:
    home = pi(machine)
    return ClientFiles(
        files={"SKILL.md": home / _SKILL, "pi.ts": home / "extensions" / "compactctl.ts"}
    )


ALL_INTEGRATIONS = (
    Integration(client="claude-code", files=_claude_code, answer="decision"),
    Integration(client="codex", files=_codex, answer="continue"),
    Integration(client="opencode", files=_opencode, answer="text"),
    Integration(client="pi", files=_pi, answer="text", tells_agent=True),
)


def integration_of(client: str) -> Integration:
    """Return the one for a client by its name, which is one of ``ALL_INTEGRATIONS``."""
    return next(each for each in ALL_INTEGRATIONS if each.client == client)
