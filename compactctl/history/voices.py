"""Who wrote a text: the words that a user typed, and what a client or harness added."""

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from compactctl.model.message import Part, Role, TextPart, ToolResultPart

# Blocks that clients add to user and system messages, by tag.
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
    "user-prompt-submit-hook",
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
    "mode_notice",
    # Gemini CLI.
    "hook_context",
    "session_context",
)
_TAG = re.compile(rf"<(/?)({'|'.join(_TAGS)})(?=[\s>])[^>\n]*>")
# Lines that a client adds.
_LINE = re.compile(
    r"^[ \t]*(?:\[Request interrupted by user[^\]\n]*\]|Caveat: The messages below .*"
    r"|Read the output file to retrieve the result: .*|Full transcript available at: .*)[ \t]*$",
    re.MULTILINE,
)
# A text that begins with one of these is all by the client: the output of a command in
# mini-swe-agent, a folder's instructions in Codex.
_WHOLE = ("<returncode>", "# AGENTS.md instructions")
# Claude Code stores a command of the user as such blocks, the name with its slash.
_COMMAND = re.compile(r"<command-(name|message|args|contents)>(.*?)</command-\1>\s*", re.DOTALL)

# How Claude Code and OpenCode send what the user typed while the agent worked: in a separate
# reminder, or at the end of a result.
_MEANWHILE = re.compile(
    r"(?P<tag><system-reminder>\s*)?"
    r"The user sent (?:a new message while you were working|the following message):\n"
)
_BEHIND_IT = re.compile(
    r"(?<!\n)\n+(?:IMPORTANT: After completing your current task"
    r"|This is how Claude Code surfaces messages"
    r"|Please address this message and continue)[^\n<]*(?P<tag>\s*</system-reminder>|\s*\Z)"
)

# Tools with which a model asks the user, in lower case; their results are the user's words.
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
# What clients write around an answer: pairs of a question and the user's choice or text, with
# notes, or the answer alone.
_ANSWER = re.compile(
    r"\s*(?:User has answered your questions|Your questions have been answered|The user answered"
    r"|User (?:responded|selected|provided custom input)|<answer>)(?:: |\n)(.*?)"
    r"(?:\.? (?:You can now continue with|Read the answers carefully)[^\n]*|\s*</answer>)?\s*",
    re.DOTALL,
)
# The model's preview of the option that was chosen.
_PREVIEW = re.compile(r" selected preview:\n.*?(?=, \"[^\"\n]+\"=\"| user notes: |\Z)", re.DOTALL)
# What a client writes before the reason with which the user rejected a call.
_OBJECTION = re.compile(
    r"\s*(?:The (?:user (?:doesn['\u2019]t want|rejected|denied)|tool use was rejected)"
    r"|Plan rejected\.).{0,400}?(?:the user said|[Ff]eedback|[Rr]eason|message):\s*"
    r"(?:<(?:feedback|user_message)>\s*)?(.+?)(?:\s*</(?:feedback|user_message)>)?"
    r"(?:\n\nNote: The user's next message may contain .*|\n\nThe plan is stored at: .*)?",
    re.DOTALL,
)
# What Claude Code writes there when the user wants to discuss its questions.
_CLARIFYING = "The user wants to clarify these questions"


def attribute(parts: tuple[Part, ...], role: Role) -> tuple[Part, ...]:
    """Return the parts of a message, each with the words that the user wrote in it.

    Parts stay unchanged if the format already set these words from its records.
    """
    attributed = [_with_reply(part) if isinstance(part, ToolResultPart) else part for part in parts]
    if role != "assistant":
        attributed = [
            _with_typed(part) if isinstance(part, TextPart) else part for part in attributed
        ]
    return tuple(attributed)


def typed_in(text: str) -> str:
    r"""Return a text without the blocks and lines that clients added.

    Only blocks at the start of a line are removed; one that the user quotes in a sentence stays.

    >>> typed_in("<system-reminder>Be brief.</system-reminder>\nPort the shop.")
    'Port the shop.'
    >>> typed_in("<command-name>/port</command-name><command-args>src only</command-args>")
    '/port src only'
    """
    if text.lstrip().startswith(_WHOLE):
        return ""
    command, body = _command_apart(_with_typed_meanwhile(text))
    pieces, pos = [command], 0
    has_words = bool(command)
    for block_start, block_end in _blocks(body):
        # At the start of a line, or right behind another block.
        is_in_front = block_start == pos or _is_blank_before(body, block_start)
        if block_start < pos or not is_in_front:
            continue
        # A block without an end is the client's only if nothing but blocks comes before it.
        has_words = has_words or bool(body[pos:block_start].strip())
        if block_end is None and has_words:
            continue
        pieces.append(body[pos:block_start])
        pos = len(body) if block_end is None else block_end
    typed = _LINE.sub("", "".join((*pieces, body[pos:])))
    return text if typed == text else typed.strip()


def _is_blank_before(text: str, index: int) -> bool:
    """Whether only spaces precede ``index`` on its line."""
    before = index
    while before and text[before - 1] in " \t":
        before -= 1
    return before == 0 or text[before - 1] == "\n"


def _blocks(text: str) -> Iterator[tuple[int, int | None]]:
    """Yield start and end of blocks, None for one without an end; blocks of one tag may nest."""
    tags = list(_TAG.finditer(text))
    open_blocks: dict[str, list[int]] = defaultdict(list)
    closings: dict[str, list[int]] = defaultdict(list)
    ends: dict[int, int] = {}
    for tag in tags:
        if not tag[1]:
            open_blocks[tag[2]].append(tag.start())
            continue
        closings[tag[2]].append(tag.end())
        if open_blocks[tag[2]]:
            ends[open_blocks[tag[2]].pop()] = tag.end()
    for tag in tags:
        if tag[1]:
            continue
        following = closings[tag[2]]
        index = bisect_right(following, tag.end())
        next_closing = following[index] if index < len(following) else None
        yield tag.start(), ends.get(tag.start(), next_closing)


def command_in(text: str) -> str:
    """Return a command of Claude Code with its arguments, as typed; "" for other texts."""
    if not text.lstrip().startswith("<command-"):
        return ""
    fields = {match[1]: match[2].strip() for match in _command_blocks(text)}
    return " ".join(filter(None, (fields.get("name"), fields.get("args"))))


def is_from_client(parts: Iterable[Part]) -> bool:
    """Whether the parts contain texts, and a client wrote all of them."""
    texts = [part for part in parts if isinstance(part, TextPart)]
    return bool(texts) and all(part.typed == "" for part in texts)


def reply_in(tool: str, text: str, *, is_error: bool = False) -> str:
    """Return the words of the user in the result of a tool, "" if there are none.

    These are an answer to a question, a reason for rejecting the call, or a message typed
    meanwhile. An error (``is_error``) is not an answer.
    """
    replies = [text[start:end] for _, start, end, _ in _typed_meanwhile(text)]
    objection = _OBJECTION.fullmatch(text)
    if objection and not objection[1].startswith(_CLARIFYING):
        replies.append(objection[1])
    elif tool.lower() in _ASKING and not (objection or is_error):
        answer = _ANSWER.fullmatch(text)
        replies.append(_PREVIEW.sub("", answer[1]) if answer else _texts_in(text))
    return "\n".join(replies)


def _typed_meanwhile(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield the offsets of a client's note, of the words in it, of their end and of its end."""
    # A plain search is many times faster, and finds nothing in most texts.
    if "The user sent " not in text:
        return
    pos = 0
    while (opening := _MEANWHILE.search(text, pos)) is not None:
        closing = _BEHIND_IT.search(text, opening.end())
        if closing is None:
            return
        pos = closing.end()
        if bool(opening["tag"]) == closing["tag"].endswith(">"):
            yield opening.start(), opening.end(), closing.start(), closing.end()


def _with_typed_meanwhile(text: str) -> str:
    """Return a text with each such note replaced by the words in it."""
    pieces, pos = [], 0
    for start, first, last, end in _typed_meanwhile(text):
        pieces += [text[pos:start], text[first:last]]
        pos = end
    return "".join((*pieces, text[pos:]))


def _texts_in(text: str) -> str:
    """Return the strings in an answer that is a JSON object, otherwise the answer."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "; ".join(_leaves(value)) if isinstance(value, dict) else text


def _leaves(value: object) -> Iterator[str]:
    """Yield the non-empty strings in a JSON value in order, without recursion."""
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


def _command_blocks(text: str) -> Iterator[re.Match[str]]:
    """Yield the command blocks at the start of a text."""
    pos = len(text) - len(text.lstrip())
    while (block := _COMMAND.match(text, pos)) is not None:
        yield block
        pos = block.end()


def _command_apart(text: str) -> tuple[str, str]:
    """Return a command as the user typed it, and the text after it.

    A command without arguments and text is left out: it does something in the client only.
    """
    line = command_in(text)
    if not line:
        return "", text
    *_, last = _command_blocks(text)
    body = text[last.end() :]
    if not body.strip():
        return (line if " " in line else ""), ""
    return f"{line}\n", body


def _with_typed(part: TextPart) -> TextPart:
    if part.typed is not None:
        return part
    typed = typed_in(part.text)
    return part if typed == part.text else replace(part, typed=typed)


def _with_reply(part: ToolResultPart) -> ToolResultPart:
    if part.said or part.cleared:
        return part
    reply = reply_in(part.tool, part.text, is_error=part.is_error)
    return replace(part, said=reply) if reply else part
