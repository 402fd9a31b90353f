"""What VS Code Copilot Chat writes around its user's words, as data."""

import re

from compactctl.clients.content.answers import JSON_ANSWERS
from compactctl.clients.records.wrapping import Wrapping
from compactctl.clients.vscode_chat.tools import RESULTS

# VS Code Copilot Chat: its records hold the request as it was typed. What it sends ends with that,
# behind the attached files.
VSCODE_CHAT = Wrapping(
    client="VS Code Copilot Chat",
    system_prompt=re.compile(
        r"You are an expert AI programming assistant, working with a user in the VS Code"
    ),
    summary=re.compile(r"\s*<conversation-summary>(?s:.*)</conversation-summary>"),
    tags=frozenset(
        {
            "environment_info", "workspace_info", "conversation-summary", "attachments", "context",
            "editorContext", "reminderInstructions", "instructions",
        }
    ),
    prompt=re.compile(r"(?:.*\n)?<userRequest>\n(.*)\n</userRequest>\s*", re.DOTALL),
    answers={"vscode_askquestions": JSON_ANSWERS},
    results=RESULTS,
)  # fmt: skip
