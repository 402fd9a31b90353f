"""Who wrote a text: the words that a user typed, and what the client wrote around them.

What a client writes is known only of that client's own records, so each format names the
``Wrapping`` of the client whose records it reads. Text of another origin is never searched.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache

from compactctl.model.message import Part, Role, TextPart, ToolResultPart
from compactctl.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWording:
    """How a client writes the result of a tool that asks the user.

    Attributes:
        pattern: matches a result that holds an answer; its group is what the user said, or a JSON
            object in which every string is.
        unanswered: matches the result of a question that nobody answered.
        asides: what else stands in the group, such as the model's preview of the chosen option.
    """

    pattern: re.Pattern[str]
    unanswered: re.Pattern[str] | None = None
    asides: re.Pattern[str] | None = None

    def answer_in(self, text: str) -> str:
        """Return what the user said in a result, "" if nothing."""
        text = text.strip()
        match = self.pattern.fullmatch(text)
        if match is None or (self.unanswered and self.unanswered.fullmatch(text)):
            return ""
        answer = _strings_in(match[match.lastindex or 0].strip())
        return self.asides.sub("", answer) if self.asides else answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapping:
    """What one client writes around the words of its user.

    Attributes:
        client: the client's name; "" if it is not known which one wrote the records.
        tags: the tags of blocks that it puts before or behind what the user typed; a block ends
            with the last of its closing tags.
        notes: matches a line that it puts there, or lines that do not begin with a tag.
        prompt: matches a text in which it puts what the user typed between texts of others; group
            1 is that.
        meanwhile: matches a block that holds what the user typed while the agent worked; group 1
            is that.
        has_commands: whether it stores a slash command as blocks ``<command-name>`` and so on.
        answers: how it writes answers, by the name of the asking tool in lower case.
        denial: matches the result of a call that the user rejected, saying why; group 1 is that.
    """

    client: str = ""
    tags: frozenset[str] = frozenset()
    notes: re.Pattern[str] | None = None
    prompt: re.Pattern[str] | None = None
    meanwhile: re.Pattern[str] | None = None
    has_commands: bool = False
    answers: Mapping[str, AnswerWording] = field(default_factory=dict)
    denial: re.Pattern[str] | None = None


_COMMAND = re.compile(r"<command-(name|message|args|contents)>(.*?)</command-\1>\s*", re.DOTALL)
# Matches nothing.
_NEVER = r"(?!)"
# Names of tools of servers, as clients write them: another program answers these calls.
_SERVER_TOOL = re.compile(r"mcp__|.*/")


def attribute(parts: tuple[Part, ...], role: Role, wrapping: Wrapping) -> tuple[Part, ...]:
    """Return the parts of a message, each with the words that the user wrote in it.

    Parts stay unchanged if the format already set these words from its records.
    """
    return tuple(
        _with_reply(part, wrapping)
        if isinstance(part, ToolResultPart)
        else _with_typed(part, wrapping)
        if isinstance(part, TextPart) and role != "assistant"
        else part
        for part in parts
    )


def is_from_client(parts: Iterable[Part]) -> bool:
    """Whether the parts contain texts, and a client wrote all of them."""
    texts = [part for part in parts if isinstance(part, TextPart)]
    return bool(texts) and all(part.typed == "" for part in texts)


def typed_in(text: str, wrapping: Wrapping) -> str:
    r"""Return a text without what the client put before and behind what the user typed.

    Blocks and lines between words of the user stay, since they are the user's too.

    >>> reminders = Wrapping(tags=frozenset({"reminder"}))
    >>> typed_in("<reminder>Be brief.</reminder>\nPort the <reminder> tag.", reminders)
    'Port the <reminder> tag.'
    """
    prompt = wrapping.prompt.fullmatch(text) if wrapping.prompt else None
    if prompt:
        return prompt[1].strip()
    command, body = _command_apart(text) if wrapping.has_commands else ("", text)
    first = _front_end(body, wrapping)
    last = _back_start(body, first, wrapping)
    if (first, last) == (0, len(body)):
        return text if body == text else f"{command}\n{body}".strip()
    typed = (
        command,
        _typed_meanwhile(body[:first], wrapping),
        body[first:last].strip(),
        _typed_meanwhile(body[last:], wrapping),
    )
    return "\n".join(filter(None, typed))


def command_in(text: str) -> str:
    """Return a slash command with its arguments, as typed; "" for other texts."""
    if not text.lstrip().startswith("<command-"):
        return ""
    fields = {match[1]: match[2].strip() for match in _command_blocks(text)}
    return " ".join(filter(None, (fields.get("name"), fields.get("args"))))


def reply_in(result: ToolResultPart, wrapping: Wrapping) -> str:
    """Return the words of the user in a result, "" if there are none.

    These are the answer to a question of the client's own asking tool, or, in a result marked as
    failed, the reason for which the user rejected the call.
    """
    is_of_server = _SERVER_TOOL.match(result.tool) is not None
    if result.is_error:
        # The error of a server may read like anything.
        denial = wrapping.denial if not is_of_server else None
        match = denial.fullmatch(result.text) if denial else None
        return match[1] if match else ""
    wording = None if is_of_server else wrapping.answers.get(result.tool.lower())
    return wording.answer_in(result.text) if wording else ""


def _front_end(text: str, wrapping: Wrapping) -> int:
    """Return the end of the client's blocks and lines at the start of a text, 0 if none."""
    end, pos = 0, _first_visible(text, 0)
    while (ending := _block_end(text, pos, wrapping) or _note_end(text, pos, wrapping)) is not None:
        end, pos = ending, _first_visible(text, ending)
    return end


def _back_start(text: str, first: int, wrapping: Wrapping) -> int:
    """Return the start of the client's blocks and lines at the end of a text behind ``first``."""
    start, pos = len(text), _last_visible(text, len(text))
    while pos > first:
        beginning = _block_start(text, first, pos, wrapping)
        if beginning is None:
            beginning = _note_start(text, pos, wrapping)
        if beginning is None or beginning < first:
            break
        start, pos = beginning, _last_visible(text, beginning)
    return start


def _block_end(text: str, start: int, wrapping: Wrapping) -> int | None:
    """Return the end of the client's block that starts there, or None.

    It ends with the last of its closing tags, since a file or output in it may hold one, too:

        <task-notification>The page says: </task-notification> Push it. </task-notification>
    """
    opening = _opening_tag(wrapping.tags).match(text, start)
    if opening is None:
        return None
    closing = text.rfind(f"</{opening[1]}", opening.end())
    end = text.find(">", closing) + 1
    return end if closing >= 0 and end and "\n" not in text[closing:end] else None


def _block_start(text: str, first: int, end: int, wrapping: Wrapping) -> int | None:
    """Return the start of the client's block that ends there, or None.

    It starts with the first of its opening tags that begins a line.
    """
    closing = _closing_tag(wrapping.tags).search(text, max(first, text.rfind("</", 0, end)), end)
    if closing is None or closing.end() != end:
        return None
    for opening in _opening_tag(wrapping.tags).finditer(text, first, closing.start()):
        if opening[1] == closing[1] and _begins_line(text, opening.start()):
            return opening.start()
    return None


def _note_end(text: str, start: int, wrapping: Wrapping) -> int | None:
    """Return the end of the client's line that starts there, or None."""
    match = wrapping.notes.match(text, start) if wrapping.notes else None
    return match.end() if match else None


def _note_start(text: str, end: int, wrapping: Wrapping) -> int | None:
    """Return the start of the client's line that ends there, or None."""
    start = _first_visible(text, text.rfind("\n", 0, end) + 1)
    match = wrapping.notes.match(text, start) if wrapping.notes else None
    return start if match and _last_visible(text, match.end()) == end else None


def _typed_meanwhile(text: str, wrapping: Wrapping) -> str:
    """Return what the user typed while the agent worked, if the client's text holds that."""
    match = wrapping.meanwhile.fullmatch(text.strip()) if wrapping.meanwhile else None
    return match[1].strip() if match else ""


def _first_visible(text: str, pos: int) -> int:
    while pos < len(text) and text[pos].isspace():
        pos += 1
    return pos


def _last_visible(text: str, pos: int) -> int:
    while pos and text[pos - 1].isspace():
        pos -= 1
    return pos


def _begins_line(text: str, pos: int) -> bool:
    while pos and text[pos - 1] in " \t":
        pos -= 1
    return pos == 0 or text[pos - 1] == "\n"


@cache
def _opening_tag(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"<({'|'.join(sorted(names)) or _NEVER})(?=[\s>])[^>\n]*>")


@cache
def _closing_tag(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"</({'|'.join(sorted(names)) or _NEVER})(?=[\s>])[^>\n]*>")


def _command_blocks(text: str) -> Iterator[re.Match[str]]:
    """Yield the command blocks at the start of a text."""
    pos = _first_visible(text, 0)
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
    is_complete = " " in line or bool(body.strip())
    return (line if is_complete else ""), body


def _strings_in(text: str) -> str:
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


def _with_typed(part: TextPart, wrapping: Wrapping) -> TextPart:
    if part.typed is not None:
        return part
    typed = typed_in(part.text, wrapping)
    return part if typed == part.text else replace(part, typed=typed)


def _with_reply(part: ToolResultPart, wrapping: Wrapping) -> ToolResultPart:
    if part.said or part.cleared:
        return part
    reply = reply_in(part, wrapping)
    return replace(part, said=reply) if reply else part
