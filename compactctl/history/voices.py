"""Who wrote a text: what of it a person typed, and what a client or harness put there."""

import json
import re
from bisect import bisect_right
from collections import defaultdict
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
_MEANWHILE = re.compile(
    r"(?P<tag><system-reminder>\s*)?"
    r"The user sent (?:a new message while you were working|the following message):\n"
)
_BEHIND_IT = re.compile(
    r"(?<!\n)\n+(?:IMPORTANT: After completing your current task"
    r"|This is how Claude Code surfaces messages"
    r"|Please address this message and continue)[^\n<]*(?P<tag>\s*</system-reminder>|\s*\Z)"
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


def attribute(parts: tuple[Part, ...], role: Role) -> tuple[Part, ...]:
    """Return the parts of a message with what a person wrote in each of them noted.

    A format may have noted it before, from what its own records tell.
    """
    replied = map(_with_reply, parts)
    return tuple(replied if role == "assistant" else map(_with_typed, replied))


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
    command, body = _command_apart(_with_typed_meanwhile(text))
    pieces, start = [command], 0
    has_words = bool(command)
    for opening, end in _blocks(body):
        # At the start of a line, or right behind another block.
        is_in_front = opening == start or _is_blank_before(body, opening)
        if opening < start or not is_in_front:
            continue
        # One that is cut off is the client's where nothing but blocks stands before it.
        has_words = has_words or bool(body[start:opening].strip())
        if end is None and has_words:
            continue
        pieces.append(body[start:opening])
        start = len(body) if end is None else end
    rest = _LINE.sub("", "".join((*pieces, body[start:])))
    return text if rest == text else rest.strip()


def _is_blank_before(text: str, index: int) -> bool:
    """Tell whether a line begins at ``index``, but for spaces."""
    before = index
    while before and text[before - 1] in " \t":
        before -= 1
    return before == 0 or text[before - 1] == "\n"


def _blocks(text: str) -> Iterator[tuple[int, int | None]]:
    """Yield where blocks begin and end, None where one does not; one may quote its own kind."""
    tags = list(_TAG.finditer(text))
    waiting: dict[str, list[int]] = defaultdict(list)
    closings: dict[str, list[int]] = defaultdict(list)
    ends: dict[int, int] = {}
    for tag in tags:
        if not tag[1]:
            waiting[tag[2]].append(tag.start())
            continue
        closings[tag[2]].append(tag.end())
        if waiting[tag[2]]:
            ends[waiting[tag[2]].pop()] = tag.end()
    for tag in tags:
        if tag[1]:
            continue
        following = closings[tag[2]]
        later = bisect_right(following, tag.end())
        first = following[later] if later < len(following) else None
        yield tag.start(), ends.get(tag.start(), first)


def command_in(text: str) -> str:
    """Return a command of Claude Code with its arguments, as typed; "" where a text is none."""
    if not text.lstrip().startswith("<command-"):
        return ""
    fields = {match[1]: match[2].strip() for match in _command_blocks(text)}
    return " ".join(filter(None, (fields.get("name"), fields.get("args"))))


def is_from_client(parts: Iterable[Part]) -> bool:
    """Tell whether there are texts among the parts, and a client wrote all of them."""
    texts = [part for part in parts if isinstance(part, TextPart)]
    return bool(texts) and all(part.typed == "" for part in texts)


def reply_in(tool: str, text: str, *, is_error: bool = False) -> str:
    """Return what a person said in the result of a tool, "" if nothing.

    That is an answer to a question, an objection to the call, or what they typed meanwhile. With
    ``is_error`` it is not an answer.
    """
    said = [text[start:end] for _, start, end, _ in _typed_meanwhile(text)]
    objection = _OBJECTION.fullmatch(text)
    if objection and not objection[1].startswith(_CLARIFYING):
        said.append(objection[1])
    elif tool.lower() in _ASKING and not (objection or is_error):
        answer = _ANSWER.fullmatch(text)
        said.append(_PREVIEW.sub("", answer[1]) if answer else _texts_in(text))
    return "\n".join(said)


def _typed_meanwhile(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield where a client's note of words begins, where the words do and end, and its own end."""
    # A plain search is many times as fast, and finds nothing in most texts.
    if "The user sent " not in text:
        return
    at = 0
    while (opening := _MEANWHILE.search(text, at)) is not None:
        closing = _BEHIND_IT.search(text, opening.end())
        if closing is None:
            return
        at = closing.end()
        if bool(opening["tag"]) == closing["tag"].endswith(">"):
            yield opening.start(), opening.end(), closing.start(), closing.end()


def _with_typed_meanwhile(text: str) -> str:
    """Return a text with nothing but the words where a client noted them."""
    pieces, at = [], 0
    for start, first, last, end in _typed_meanwhile(text):
        pieces += [text[at:start], text[first:last]]
        at = end
    return "".join((*pieces, text[at:]))


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


def _command_blocks(text: str) -> Iterator[re.Match[str]]:
    """Yield the blocks of a command that a text begins with."""
    at = len(text) - len(text.lstrip())
    while (block := _COMMAND.match(text, at)) is not None:
        yield block
        at = block.end()


def _command_apart(text: str) -> tuple[str, str]:
    """Return a command as a person typed it, and the text without it.

    A command without arguments and without a text behind it does something in the client alone.
    """
    line = command_in(text)
    if not line:
        return "", text
    *_, last = _command_blocks(text)
    rest = text[last.end() :]
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
