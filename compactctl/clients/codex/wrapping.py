"""What Codex writes around its user's words, as data."""

import re

from compactctl.clients.codex.tools import RESULTS
from compactctl.clients.content.answers import JSON_ANSWERS
from compactctl.clients.records.wrapping import Wrapping

TAGGED = re.compile(r"\s*<[a-z][\w-]*[ >]")
"""How texts begin that the client puts into a session."""

# Codex CLI 0.58 to 0.142, and its source; the editor's extension sends selections and open files
# before the prompt.
CODEX = Wrapping(
    client="Codex",
    system_prompt=re.compile(
        r"You are Codex\b|You are [^.\n]{0,60}running in the Codex CLI"
        r"|<permissions instructions>\n"
    ),
    summary=re.compile(
        r"\s*Another language model started to solve this problem and produced a summary of its "
        r"thinking\b"
    ),
    tags=frozenset(
        {
            "environment_context",
            "user_instructions",
            "permissions",
            "turn_aborted",
            "user_shell_command",
            "skill",
            "subagent_notification",
            "app-context",
            "collaboration_mode",
            "personality_spec",
            "apps_instructions",
            "skills_instructions",
            "plugins_instructions",
        }
    ),
    notes=re.compile(
        r"# AGENTS\.md instructions for .*\n\s*<INSTRUCTIONS>[\s\S]*\n</INSTRUCTIONS>(?=\s|\Z)"
    ),
    prompt=re.compile(
        r"# (?:Context from my IDE setup|Files mentioned by the user):\n.*"
        r"\n## My request(?: for Codex)?:\n(.*)",
        re.DOTALL,
    ),
    answers={"request_user_input": JSON_ANSWERS},
    results=RESULTS,
)
