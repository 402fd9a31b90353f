"""What Qwen Code writes around its user's words, as data."""

import re

from compactctl.clients.qwen_code.tools import RESULTS
from compactctl.clients.records.wrapping import AnswerWording, Wrapping

_ANSWERS = AnswerWording(
    pattern=re.compile(r"User has provided the following answers:\n\n(.*)", re.DOTALL),
    unanswered=re.compile(r".*\n\nNo valid answers were provided\.", re.DOTALL),
    pairs=re.compile(r"(?:^|\n)\*\*[^\n]*?\*\*: (.*?)()(?=\n\*\*[^\n]*?\*\*: |\Z)", re.DOTALL),
)
# Qwen Code 0.24.
QWEN_CODE = Wrapping(
    client="Qwen Code",
    system_prompt=re.compile(r"You are Qwen Code, an? (?:interactive CLI|general-purpose) agent"),
    tags=frozenset(
        {"system-reminder", "task-notification", "qwen:user-prompt-submit-context"}
        | {"background-tasks", "plan-mode-active"}
    ),
    summary=re.compile(
        r"<state_snapshot>.*</state_snapshot>\n\nResume the prior task using the summary above\..*",
        re.DOTALL,
    ),
    answers={"ask_user_question": _ANSWERS},
    results=RESULTS,
)
