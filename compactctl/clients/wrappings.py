"""The wrappings of all clients, for records that do not say which client wrote them.

A client is known by its system prompt, if the records have it. The format of a client in this list
reads its records with ``KnownWrappings(unknown=ITS_OWN)``.
"""

import re

from compactctl.clients.claude_code.wrapping import CLAUDE_CODE
from compactctl.clients.cline.wrapping import CLINE
from compactctl.clients.codex.wrapping import CODEX
from compactctl.clients.copilot_cli.wrapping import COPILOT_CLI
from compactctl.clients.gemini_cli.wrapping import GEMINI_CLI
from compactctl.clients.opencode.wrapping import OPENCODE
from compactctl.clients.pi.wrapping import PI
from compactctl.clients.qwen_code.wrapping import QWEN_CODE
from compactctl.clients.records.wrapping import AnswerWording, KnownWrappings, Wrapping
from compactctl.clients.vscode_chat.wrapping import VSCODE_CHAT

_CLIENTS = (
    CLAUDE_CODE,
    CODEX,
    GEMINI_CLI,
    OPENCODE,
    COPILOT_CLI,
    CLINE,
    VSCODE_CHAT,
    PI,
    QWEN_CODE,
)

# Records of APIs and of programs that are not known: nothing but the answer to a tool whose name
# says that it asks the user, and summaries in the form that a program documents.
_PLAIN_ANSWER = AnswerWording(
    pattern=re.compile(
        r"<answer>\n(.*)</answer>"
        r"|(?:User (?:responded|selected|provided custom input): )?(.*)",
        re.DOTALL,
    ),
    unanswered=re.compile(
        r"\W*(?:no (?:response|answer|reply)\b(?! (?:is |was )?(?:needed|required|necessary))"
        r"|(?:the )?(?:user|human|operator) (?:did(?: not|n['\u2019]t)|has(?: not|n['\u2019]t)"
        r"|is (?:not|away|busy|offline|unavailable)|was not|never|cancel|dismiss|skip|declin|clos"
        r"|ignor|abort|reject|denied|doesn['\u2019]t|timed)"
        r"|(?:the )?(?:question|prompt|request|dialog|tool)\b[^.\n]{0,40}\b(?:timed|expired|cancel"
        r"|dismiss|skip|unanswered|not answered|aborted)"
        r"|(?:it |we )?timed? ?-?out\b|unanswered\b|cancell?ed\b|dismissed\b|skipped\b|aborted\b"
        r"|nobody (?:answered|responded|replied)|waited \d|error: ).*",
        re.DOTALL | re.IGNORECASE,
    ),
)
UNKNOWN_CLIENT = Wrapping(
    tags=frozenset({"conversation-summary"}),
    summary=re.compile(
        "|".join(client.summary.pattern for client in _CLIENTS if client.summary is not None)
    ),
    answers={
        "ask_user": _PLAIN_ANSWER,
        "ask_user_question": _PLAIN_ANSWER,
        "ask_followup_question": _PLAIN_ANSWER,
        "askuserquestion": _PLAIN_ANSWER,
        "request_user_input": _PLAIN_ANSWER,
    },
)

KNOWN_WRAPPINGS = KnownWrappings(unknown=UNKNOWN_CLIENT, clients=_CLIENTS)
