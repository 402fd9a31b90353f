"""Whose words a text is: what of it a person wrote, and what a client or harness put there."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from compactctl.model.message import Part, Role, TextPart, ToolResultPart

# Blocks that clients put into the messages of users and systems, by the names of their tags.
_TAGS = (
    # Claude Code 1.0 to 2.1; copilot-cli writes the same reminder with an underscore.
    "system-reminder",
    "system_reminder",
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
    # Codex CLI 0.58 to 0.142, and its source.
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
    # Cline and Roo Code.
    "environment_details",
)
_OPENING = re.compile(rf"<({'|'.join(_TAGS)})(?=[\s>])[^>\n]*>")
# What a client writes on a line of its own.
_LINE = re.compile(
    r"^[ \t]*(?:\[Request interrupted by user[^\]\n]*\]|Caveat: The messages below .*"
    r"|Read the output file to retrieve the result: .*|Full transcript available at: .*)[ \t]*$",
    re.MULTILINE,
)
# A text that begins so is the client's up to its end: mini-swe-agent's output of a command, a
# folder's instructions in Codex.
_WHOLE = ("<returncode>", "# AGENTS.md instructions")
# Claude Code stores a person's command as such blocks, the name with its slash.
_COMMAND = re.compile(r"<command-(name|message|args|contents)>(.*?)</command-\1>\s*", re.DOTALL)

# How Claude Code and OpenCode send what a person typed while the agent worked: in a reminder of its
# own, or at the end of a result.
_STEERED = re.compile(
    r"(?P<tag><system-reminder>\s*)?"
    r"The user sent (?:a new message while you were working|the following message):\n(.*?)\n+"
    r"(?:IMPORTANT: After completing your current task|This is how Claude Code surfaces messages"
    r"|Please address this message and continue)[^\n]*?"
    r"(?(tag)\s*</system-reminder>|\s*\Z)",
    re.DOTALL,
)

# Tools by which a model asks a person, in lower case; their results are that person's words.
_ASKING = frozenset(
    {
        "ask",
        "ask_followup_question",
        "ask_question",
        "ask_user",
        "askuserquestion",
        "askuserquestiontool",
        "question",
        "request_user_input",
        "vscode_askquestions",
    }
)
# What clients write around an answer: around pairs of a question and what was chosen or written,
# with notes, or around that alone.
_ANSWER = re.compile(
    r"\s*(?:User has answered your questions|Your questions have been answered|The user answered"
    r"|User (?:responded|selected|provided custom input)|<answer>)(?:: |\n)(.*?)"
    r"(?:\.? (?:You can now continue with|Read the answers carefully)[^\n]*|\s*</answer>)?\s*",
    re.DOTALL,
)
# What the model had drawn for the option that was chosen.
_PREVIEW = re.compile(r" selected preview:\n.*?(?=, \"[^\"\n]+\"=\"| user notes: |\Z)", re.DOTALL)
# What a client writes before the words with which a person turned down a call.
_OBJECTION = re.compile(
    r"\s*(?:The (?:user (?:doesn['\u2019]t want|rejected|denied)|tool use was rejected)"
    r"|Plan rejected\.).{0,400}?(?:the user said|[Ff]eedback|[Rr]eason|message):\s*"
    r"(?:<(?:feedback|user_message)>\s*)?(.+?)(?:\s*</(?:feedback|user_message)>)?"
    r"(?:\n\nNote: The user's next message may contain .*|\n\nThe plan is stored at: .*)?",
    re.DOTALL,
)
# What Claude Code writes there when a person wants to talk about its questions.
_CLARIFYING = "The user wants to clarify these questions"


def attributed(parts: tuple[Part, ...], role: Role) -> tuple[Part, ...]:
    """Return the parts of a message with what a person wrote in each of them noted.

    A format may have noted it before, from what its own records tell.
    """
    if role == "assistant":
        return tuple(_with_reply(part) for part in parts)
    return tuple(_with_typed(_with_reply(part)) for part in parts)


def typed_in(text: str) -> str:
    r"""Return what is left of a text once the blocks and lines of clients are taken out.

    A block counts where a line begins with it; what a person quotes in a sentence stays.

    >>> typed_in("<system-reminder>Be brief.</system-reminder>\nPort the shop.")
    'Port the shop.'
    >>> typed_in("<command-name>/port</command-name><command-args>src only</command-args>")
    '/port src only'
    """
    if text.lstrip().startswith(_WHOLE):
        return ""
    command, body = _command_apart(_STEERED.sub(r"\2", text))
    pieces, start = [command], 0
    for opening in _OPENING.finditer(body):
        is_first_in_line = not body[start : opening.start()].rpartition("\n")[2].strip()
        if opening.start() < start or not is_first_in_line:
            continue
        end = _block_end(body, opening)
        if end is None and body[: opening.start()].strip():
            continue
        pieces.append(body[start : opening.start()])
        start = len(body) if end is None else end
    rest = _LINE.sub("", "".join((*pieces, body[start:])))
    return text if rest == text else rest.strip()


def _block_end(text: str, opening: re.Match[str]) -> int | None:
    """Return where a block ends, None where it does not; it may quote blocks of its own kind."""
    first, depth = None, 1
    for tag in re.compile(rf"<(/?){re.escape(opening[1])}(?=[\s>])[^>\n]*>").finditer(
        text, opening.end()
    ):
        depth += -1 if tag[1] else 1
        first = first or (tag.end() if tag[1] else None)
        if depth == 0:
            return tag.end()
    return first


def command_in(text: str) -> str:
    """Return a command of Claude Code with its arguments, as typed; "" where a text is none."""
    if not text.lstrip().startswith("<command-"):
        return ""
    fields = {match[1]: match[2].strip() for match in _COMMAND.finditer(text)}
    return " ".join(filter(None, (fields.get("name"), fields.get("args"))))


def is_clients(parts: Iterable[Part]) -> bool:
    """Tell whether there are texts among the parts, and a client wrote all of them."""
    texts = [part for part in parts if isinstance(part, TextPart)]
    return bool(texts) and all(part.typed == "" for part in texts)


def reply_in(tool: str, text: str, *, is_error: bool = False) -> str:
    """Return what a person said in the result of a tool, "" if nothing.

    That is an answer to a question, an objection to the call, or what they typed meanwhile. With
    ``is_error`` it is no answer.
    """
    said = [match[2] for match in _STEERED.finditer(text)]
    objection = _OBJECTION.fullmatch(text)
    if objection and not objection[1].startswith(_CLARIFYING):
        said.append(objection[1])
    elif tool.lower() in _ASKING and not (objection or is_error):
        answer = _ANSWER.fullmatch(text)
        said.append(_PREVIEW.sub("", answer[1]) if answer else _texts_in(text))
    return "\n".join(said)


def _texts_in(text: str) -> str:
    """Return the texts in an answer that is a JSON object, else the answer."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "; ".join(_leaves(value)) if isinstance(value, dict) else text


def _leaves(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value in their order, without recursion."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text) if text:
                yield text
            case dict(items):
                waiting.extend(reversed(items.values()))
            case list(items):
                waiting.extend(reversed(items))
            case _:
                continue


def _command_apart(text: str) -> tuple[str, str]:
    """Return a command as a person typed it, and the text without it.

    A command without arguments and without a text behind it does something in the client alone.
    """
    line = command_in(text)
    if not line:
        return "", text
    rest = _COMMAND.sub("", text)
    if not rest.strip():
        return (line if " " in line else ""), ""
    return f"{line}\n", rest


def _with_typed(part: Part) -> Part:
    if not isinstance(part, TextPart) or part.typed is not None:
        return part
    typed = typed_in(part.text)
    return part if typed == part.text else replace(part, typed=typed)


def _with_reply(part: Part) -> Part:
    if not isinstance(part, ToolResultPart) or part.said or part.cleared:
        return part
    said = reply_in(part.tool, part.text, is_error=part.is_error)
    return replace(part, said=said) if said else part
