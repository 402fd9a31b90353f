"""What OpenCode writes around its user's words, as data."""

import re

from compactctl.clients.content.answers import ANSWERED_PAIRS
from compactctl.clients.opencode.tools import RESULTS
from compactctl.clients.records.wrapping import Wrapping

# OpenCode 1.2 and its source: what is not typed is marked as synthetic in its sessions.
OPENCODE = Wrapping(
    client="OpenCode",
    system_prompt=re.compile(r"You are opencode\b", re.IGNORECASE),
    line_tags=frozenset({"system-reminder"}),
    meanwhile=re.compile(
        r"\s*<system-reminder>\s*The user sent the following message:\n"
        r"((?:(?!</system-reminder>).)*?)\n+"
        r"Please address this message and continue[^\n<]*\s*</system-reminder>\s*",
        re.DOTALL,
    ),
    answers={"question": ANSWERED_PAIRS},
    denial=re.compile(
        r"The user rejected permission to use this specific tool call with the following "
        r"feedback: (.+)",
        re.DOTALL,
    ),
    # Tools of servers have names such as server_tool.
    own_tools=frozenset(
        {
            "apply_patch", "bash", "codesearch", "edit", "glob", "grep", "list", "lsp",
            "multiedit", "patch", "read", "skill", "task", "todoread", "todowrite", "webfetch",
            "websearch", "write",
        }
    ),
    results=RESULTS,
)  # fmt: skip
