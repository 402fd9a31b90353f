"""Texts in user records that a client wrote: no person typed them."""

from collections.abc import Iterable

from compactctl.model.message import Part, TextPart

# Seen in files of Claude Code 1.0 to 2.1.
CLAUDE_CODE = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<task-notification>",
    "<system-reminder>",
    "<bash-input>",
    "<bash-stdout>",
    "Caveat: The messages below",
    "[Request interrupted",
)
# Seen in rollouts of Codex CLI 0.58 to 0.142, and named in its source.
CODEX = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
    "<app-context>",
    "<collaboration_mode>",
    "<personality_spec>",
    "<apps_instructions>",
    "<skills_instructions>",
    "<plugins_instructions>",
)
# mini-swe-agent sends what a command printed as a user message.
ANY_CLIENT = (*CLAUDE_CODE, *CODEX, "<returncode>")


def is_injected(parts: Iterable[Part], openings: tuple[str, ...]) -> bool:
    """Tell whether there are texts and all of them start with one of ``openings``."""
    texts = [part.text.lstrip() for part in parts if isinstance(part, TextPart)]
    return bool(texts) and all(text.startswith(openings) for text in texts)
