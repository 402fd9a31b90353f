"""Who wrote a text: the words that a user typed, and what the client wrote around them.

What a client writes is known only of that client's own records, so each format names the
``Wrapping`` of the client whose records it reads. Text of another origin is never searched.
"""

import json
import re
from bisect import bisect_right
from collections import defaultdict
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
        tags: the tags of blocks that it puts before or behind what the user typed.
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
    blocks = dict(_blocks(body, wrapping.tags))
    front = _front(body, blocks, wrapping)
    first = front[-1][1] if front else 0
    back = _back(body, first, blocks, wrapping)
    last = back[0][0] if back else len(body)
    if not (front or back):
        return text if body == text else f"{command}\n{body}".strip()
    typed = (
        command,
        *_typed_meanwhile(body, front, wrapping),
        body[first:last].strip(),
        *_typed_meanwhile(body, back, wrapping),
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


TextSpan = tuple[int, int]


def _front(text: str, blocks: Mapping[int, int], wrapping: Wrapping) -> list[TextSpan]:
    """Return the client's blocks and lines at the start of a text, in order."""
    spans: list[TextSpan] = []
    pos = _first_visible(text, 0)
    while (end := blocks.get(pos) or _note_end(text, pos, wrapping)) is not None:
        spans.append((pos, end))
        pos = _first_visible(text, end)
    return spans


def _back(text: str, first: int, blocks: Mapping[int, int], wrapping: Wrapping) -> list[TextSpan]:
    """Return the client's blocks and lines at the end of a text behind ``first``, in order.

    Each run of blocks begins a line.
    """
    starts = {end: start for start, end in blocks.items()}
    spans: list[TextSpan] = []
    run: list[TextSpan] = []
    end = _last_visible(text, len(text))
    while end > first:
        start = starts.get(end)
        if start is None and not run:
            start = _note_start(text, end, wrapping)
        if start is None or start < first:
            break
        run.insert(0, (start, end))
        if _begins_line(text, start):
            spans[:0] = run
            run = []
        end = _last_visible(text, start)
    return spans


def _note_end(text: str, start: int, wrapping: Wrapping) -> int | None:
    """Return the end of the client's line that starts there, or None."""
    match = wrapping.notes.match(text, start) if wrapping.notes else None
    return match.end() if match and _last_visible(text, match.end()) > start else None


def _note_start(text: str, end: int, wrapping: Wrapping) -> int | None:
    """Return the start of the client's line that ends there, or None."""
    start = _first_visible(text, text.rfind("\n", 0, end) + 1)
    match = wrapping.notes.match(text, start) if wrapping.notes else None
    return start if match and _last_visible(text, match.end()) == end else None


def _typed_meanwhile(text: str, spans: Iterable[TextSpan], wrapping: Wrapping) -> Iterator[str]:
    """Yield what the user typed while the agent worked, from the blocks that hold it."""
    for start, end in spans if wrapping.meanwhile else ():
        match = wrapping.meanwhile.fullmatch(text, start, end) if wrapping.meanwhile else None
        if match:
            yield match[1].strip()


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


def _blocks(text: str, names: frozenset[str]) -> Iterator[TextSpan]:
    """Yield the blocks of a text that are in no other; blocks with one tag may nest.

    An opening tag in the text of a block, without an end of its own, ends with the block.
    """
    tags = list(_tag_pattern(names).finditer(text)) if names else []
    open_tags: dict[str, list[int]] = defaultdict(list)
    closings: dict[str, list[int]] = defaultdict(list)
    ends: dict[int, int] = {}
    for tag in tags:
        if not tag[1]:
            open_tags[tag[2]].append(tag.start())
            continue
        closings[tag[2]].append(tag.end())
        if open_tags[tag[2]]:
            ends[open_tags[tag[2]].pop()] = tag.end()
    last_end = 0
    for tag in tags:
        if tag[1] or tag.start() < last_end:
            continue
        following = closings[tag[2]]
        index = bisect_right(following, tag.end())
        next_closing = following[index] if index < len(following) else None
        end = ends.get(tag.start(), next_closing)
        if end is not None:
            yield tag.start(), end
            last_end = end


@cache
def _tag_pattern(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"<(/?)({'|'.join(sorted(names))})(?=[\s>])[^>\n]*>")


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
