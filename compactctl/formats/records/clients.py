"""What each client writes around its user's words, as data; and which client made a request.

Taken from sessions and sources of the versions named with each.
"""

import re
from collections.abc import Iterable

from compactctl.formats.records.wrapping import AnswerWording, Wrapping
from compactctl.model.message import Part, TextPart

# A JSON object with the answers, by the question's id or number.
_JSON_ANSWERS = AnswerWording(pattern=re.compile(r'(\{\s*"answers".*\})', re.DOTALL))
# Pairs of a question and the user's choice or text, with notes: "Which?"="Blue" user notes: now
_ANSWERED_PAIRS = AnswerWording(
    pattern=re.compile(
        r"(?:User has answered your questions|Your questions have been answered"
        r"|The user answered): (.*?)"
        r"\.? (?:You can now continue with|Read the answers carefully)[^\n]*",
        re.DOTALL,
    ),
    unanswered=re.compile(
        r'User has answered your questions: (?:"[^"\n]*"="Unanswered"(?:, )?)+\..*', re.DOTALL
    ),
    asides=re.compile(r" selected preview:\n.*?(?=, \"[^\"\n]+\"=\"| user notes: |\Z)", re.DOTALL),
)
_RESPONSE = AnswerWording(
    pattern=re.compile(r"User (?:responded|selected|provided custom input): (.*)", re.DOTALL)
)
_TAGGED_ANSWER = AnswerWording(pattern=re.compile(r"<answer>\n(.*)</answer>", re.DOTALL))

# Claude Code 1.0 to 2.1; what is typed meanwhile, 2.1.
CLAUDE_CODE = Wrapping(
    client="Claude Code",
    tags=frozenset(
        {
            "system-reminder",
            "local-command-caveat",
            "local-command-stdout",
            "local-command-stderr",
            "task-notification",
            "bash-input",
            "bash-stdout",
            "bash-stderr",
            "ide_opened_file",
            "ide_selection",
            "ide_diagnostics",
            "user-prompt-submit-hook",
        }
    ),
    notes=re.compile(
        r"(?:\[Request interrupted by user[^\]\n]*\]|Caveat: The messages below .*"
        r"|Read the output file to retrieve the result: .*|Full transcript available at: .*)"
        r"[ \t]*(?=\n|\Z)"
    ),
    meanwhile=re.compile(
        r"<system-reminder>\s*The user sent a new message while you were working:\n(.*?)\n+"
        r"(?:IMPORTANT: After completing your current task|This is how Claude Code surfaces "
        r"messages)[^\n<]*\s*</system-reminder>",
        re.DOTALL,
    ),
    has_commands=True,
    answers={"askuserquestion": _ANSWERED_PAIRS},
    denial=re.compile(
        r"The user doesn['\u2019]t want to proceed with this tool use\. The tool use was rejected "
        r"[^\n]{0,300}the user said:\n(?!The user wants to clarify these questions)(.+?)"
        r"(?:\n\nNote: The user's next message may contain .*)?",
        re.DOTALL,
    ),
)

# Codex CLI 0.58 to 0.142, and its source.
CODEX = Wrapping(
    client="Codex",
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
    answers={"request_user_input": _JSON_ANSWERS},
)

# OpenCode 1.2 and its source: what is not typed is marked as synthetic in its sessions.
OPENCODE = Wrapping(
    client="OpenCode",
    tags=frozenset({"system-reminder"}),
    meanwhile=re.compile(
        r"<system-reminder>\s*The user sent the following message:\n(.*?)\n+"
        r"Please address this message and continue[^\n<]*\s*</system-reminder>",
        re.DOTALL,
    ),
    answers={"question": _ANSWERED_PAIRS},
    denial=re.compile(
        r"The user rejected permission to use this specific tool call with the following "
        r"feedback: (.+)",
        re.DOTALL,
    ),
)

# Gemini CLI 0.1 to 0.20, and its source.
GEMINI_CLI = Wrapping(
    client="Gemini CLI",
    tags=frozenset({"hook_context", "session_context"}),
    answers={
        "ask_user": _JSON_ANSWERS,
        "exit_plan_mode": AnswerWording(
            pattern=re.compile(
                r"Plan rejected\. User feedback: (.+?)\n\nThe plan is stored at: .*", re.DOTALL
            )
        ),
    },
)

# Copilot CLI 1.0: its records hold the prompt as it was typed.
COPILOT_CLI = Wrapping(
    client="Copilot CLI",
    tags=frozenset({"current_datetime", "system_reminder", "reminder"}),
    answers={"ask_user": _RESPONSE},
    denial=re.compile(r"The user rejected this tool call\. User feedback: (.+)", re.DOTALL),
)

# pi and oh-my-pi, whose extensions ask; messages of extensions have a role of their own.
PI = Wrapping(
    client="pi",
    tags=frozenset({"system-reminder"}),
    answers={"ask": _RESPONSE, "ask_user": _RESPONSE, "question": _RESPONSE},
)

# VS Code Copilot Chat: its records hold the request as it was typed. What it sends ends with that,
# behind the attached files.
VSCODE_CHAT = Wrapping(
    client="VS Code Copilot Chat",
    prompt=re.compile(r"(?:.*\n)?<userRequest>\n(.*)\n</userRequest>\s*", re.DOTALL),
    answers={"vscode_askquestions": _JSON_ANSWERS},
)

# Cline and Roo Code; the format parses the blocks in which they put the user's words.
CLINE = Wrapping(
    client="Cline or Roo Code",
    tags=frozenset({"environment_details", "mode_notice"}),
    answers={"ask_followup_question": _TAGGED_ANSWER},
)

# Records of APIs and of programs that are not known: nothing but the answer to a tool whose name
# says that it asks the user.
_PLAIN_ANSWER = AnswerWording(
    pattern=re.compile(
        r"<answer>\n(.*)</answer>"
        r"|(?:User (?:responded|selected|provided custom input): )?(.*)",
        re.DOTALL,
    ),
    unanswered=re.compile(
        r"\W*(?:no (?:response|answer|reply|input|user|selection)\b"
        r"|(?:the )?(?:user|human|operator) (?:did(?: not|n['\u2019]t)|has(?: not|n['\u2019]t)"
        r"|is (?:not|away|busy|offline|unavailable)|was not|never|cancel|dismiss|skip|declin|clos"
        r"|ignor|abort|reject|denied|doesn['\u2019]t|timed)"
        r"|(?:the )?(?:question|prompt|request|dialog|tool)\b[^.\n]{0,40}\b(?:timed|expired|cancel"
        r"|dismiss|skip|unanswered|not answered|aborted)"
        r"|timed? ?-?out|time limit|unanswered|cancel|dismissed|skipped|aborted|interrupted"
        r"|nobody (?:answered|responded|replied)|waited \d|error\b|failed\b).*",
        re.DOTALL | re.IGNORECASE,
    ),
)
UNKNOWN_CLIENT = Wrapping(
    answers={
        "ask_user": _PLAIN_ANSWER,
        "ask_user_question": _PLAIN_ANSWER,
        "ask_followup_question": _PLAIN_ANSWER,
        "askuserquestion": _PLAIN_ANSWER,
        "request_user_input": _PLAIN_ANSWER,
    }
)

# How the system prompts of clients begin.
_PROMPTS = (
    (
        re.compile(
            r"You are Claude Code\b|You are a Claude agent, built on"
            r"|x-anthropic-billing-header: cc_"
        ),
        CLAUDE_CODE,
    ),
    (
        re.compile(
            r"You are Codex\b|You are [^.\n]{0,60}running in the Codex CLI"
            r"|<permissions instructions>\n"
        ),
        CODEX,
    ),
    (
        re.compile(r"You are (?:Gemini CLI, )?an interactive CLI agent speciali[sz]ing in"),
        GEMINI_CLI,
    ),
    (re.compile(r"You are opencode\b", re.IGNORECASE), OPENCODE),
    (re.compile(r"You are the GitHub Copilot CLI\b"), COPILOT_CLI),
    (re.compile(r"You are (?:Cline|Roo)\b"), CLINE),
    (
        re.compile(
            r"You are an expert AI programming assistant, working with a user in the VS Code"
        ),
        VSCODE_CHAT,
    ),
    (re.compile(r"You are an expert coding assistant operating inside pi\b"), PI),
)


def client_of(prompt: Iterable[Part]) -> Wrapping | None:
    """Return the wrapping of the client with this system prompt, None if it is not known."""
    texts = [part.text.lstrip() for part in prompt if isinstance(part, TextPart)]
    return next(
        (wrapping for pattern, wrapping in _PROMPTS if any(map(pattern.match, texts))), None
    )
