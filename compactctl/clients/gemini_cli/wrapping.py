"""What Gemini CLI writes around its user's words, as data."""

import re

from compactctl.clients.content.answers import JSON_ANSWERS
from compactctl.clients.gemini_cli.tools import RESULTS
from compactctl.clients.records.wrapping import AnswerWording, Wrapping

# Gemini CLI 0.1 to 0.20, and its source.
GEMINI_CLI = Wrapping(
    client="Gemini CLI",
    system_prompt=re.compile(
        r"You are (?:Gemini CLI, )?an interactive CLI agent speciali[sz]ing in"
    ),
    tags=frozenset({"hook_context", "session_context", "system_note"}),
    answers={
        "ask_user": JSON_ANSWERS,
        "exit_plan_mode": AnswerWording(
            pattern=re.compile(
                r"Plan rejected\. User feedback: (.+?)\n\nThe plan is stored at: .*", re.DOTALL
            )
        ),
    },
    results=RESULTS,
)
