"""What Copilot CLI writes around its user's words, as data."""

import re

from compactctl.clients.content.answers import RESPONSE
from compactctl.clients.copilot_cli.tools import RESULTS
from compactctl.clients.records.wrapping import AnswerWording, Wrapping

# Copilot CLI 1.0: its records hold the prompt as it was typed.
COPILOT_CLI = Wrapping(
    client="Copilot CLI",
    system_prompt=re.compile(r"You are the GitHub Copilot CLI\b"),
    tags=frozenset({"current_datetime", "system_reminder", "reminder"}),
    answers={
        "ask_user": RESPONSE,
        "exit_plan_mode": AnswerWording(
            pattern=re.compile(
                r"Plan not approved\. User feedback:\s+(.+?)"
                r"(?:\n\nPlease update the plan based on this feedback and try again\.)?",
                re.DOTALL,
            )
        ),
    },
    results=RESULTS,
)
