"""How clients and harnesses word what they put around the user's words."""

from collections.abc import Callable
from typing import Any

from voices.place import Put, Record, Rows, sentences

PNG = "iVBORw0KGgo="
REMINDER = "<system-reminder>\nToday's date is 2026-03-01.\n</system-reminder>"
ENVIRONMENT = "<environment_context>\n  <cwd>/work/shop</cwd>\n</environment_context>"
# How Claude Code and OpenCode send what was typed while the agent worked.
STEERED = (
    "<system-reminder>\nThe user sent a new message while you were working:\n{words}\n\n"
    "IMPORTANT: After completing your current task, you MUST address the user's message above. "
    "Do not ignore it.\n</system-reminder>"
)
STEERED_ANEW = (
    "<system-reminder>\nThe user sent a new message while you were working:\n{words}\n\n"
    "This is how Claude Code surfaces messages the user sends mid-turn \u2014 within the running "
    "turn, often alongside the next tool result, rather than as a separate conversation turn. "
    "Address the message above as you continue this turn.\n</system-reminder>"
)
QUEUED = (
    "<system-reminder>\nThe user sent the following message:\n{words}\n\n"
    "Please address this message and continue with your tasks.\n</system-reminder>"
)
# A client's summary, which may be as long as many steps.
SUMMARY = "\n".join(f"They ported part {number} of the shop." for number in range(120))
# Claude Code and OpenCode.
ANSWERED = (
    'User has answered your questions: "Which provider stays?"="{words}". '
    "You can now continue with the user's answers in mind."
)
ANSWERED_ANEW = (
    'Your questions have been answered: "Which provider stays?"="{words}", '
    '"Since when?"="Since May". You can now continue with these answers in mind.'
)
ANSWERED_LAST = (
    'The user answered: "Which provider stays?"="Other" selected preview:\nSum   9.00\n, '
    '"Since when?"="{words}". Read the answers carefully \u2014 they may request clarification, '
    "changes, or that you not proceed \u2014 and follow what they actually say."
)
NOTED = (
    'User has answered your questions: "Which provider stays?"="Other" user notes: {words}. '
    "You can now continue with the user's answers in mind."
)
TURNED_DOWN = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). To tell you how to proceed, the "
    "user said:\n{words}"
)
WITH_NOTE = (
    TURNED_DOWN + "\n\nNote: The user's next message may contain a correction or preference. Pay "
    "close attention \u2014 if they explain what went wrong or how they'd prefer you to work, "
    "consider saving that to memory for future sessions."
)
# OpenCode.
CORRECTED = (
    "The user rejected permission to use this specific tool call with the following feedback: "
    "{words}"
)
# Cline and Roo Code.
ANSWER_TAG = "<answer>\n{words}\n</answer>"
DENIED = (
    "The user denied this operation and provided the following feedback:\n"
    "<feedback>\n{words}\n</feedback>"
)
DENIED_ANEW = (
    "The user denied this operation and responded with the message:\n"
    "<user_message>\n{words}\n</user_message>"
)
# Copilot CLI.
RESPONDED = "User responded: {words}"
SELECTED = "User selected: {words}"
# Gemini CLI.
NAMED_ANSWERS = '{{"answers":{{"0":"{words}"}}}}'
PLAN_REJECTED = (
    'Plan rejected. User feedback: "{words}"\n\nThe plan is stored at: plans/port.md\n'
    "Revise the plan based on the feedback."
)
# Codex, and VS Code.
LISTED_ANSWERS = '{{"answers":{{"provider":{{"answers":["{words}"]}}}}}}'
FREE_TEXT = '{{"answers":{{"Provider":{{"selected":[],"freeText":"{words}","skipped":false}}}}}}'


def asked(wording: str, tool: str = "AskUserQuestion") -> Put:
    """Put words into the result of a question tool."""
    return lambda talk, words: talk.ask(wording.format(words=words), tool)


def refused(wording: str) -> Put:
    """Put words into the result of a call that was turned down."""
    return lambda talk, words: talk.refuse(wording.format(words=words))


def said(wording: str) -> Put:
    """Put words into a plain message."""
    return lambda talk, words: talk.say(wording.format(words=words))


def around(block: str) -> Rows:
    """Return a request behind a client's block in one text."""
    return {
        "behind a block": said(f"{block}\n\n{{words}}"),
    }


FAILED = "<tool_use_error>InputValidationError: {words}</tool_use_error>"
NOTIFICATION = (
    "<task-notification>\n<task-id>b1</task-id>\n<summary>{words}</summary>\n</task-notification>"
)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def in_blocks(write: Callable[..., None], picture: Record) -> Rows:
    """Return requests in blocks that are written by ``write``, beside a picture or a reminder."""
    reminder = text(REMINDER)
    return {
        "block": lambda talk, words: write(talk, text(words)),
        "blocks": lambda talk, words: write(talk, *map(text, sentences(words))),
        "before a picture": lambda talk, words: write(talk, text(words), picture),
        "behind a picture": lambda talk, words: write(talk, picture, text(words)),
        "behind a block of its own": lambda talk, words: write(talk, reminder, text(words)),
        "before a block of its own": lambda talk, words: write(talk, text(words), reminder),
    }
