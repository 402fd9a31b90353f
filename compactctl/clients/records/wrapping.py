"""Who wrote a text: the words that a user typed, and what the client wrote around them.

What a client writes is known only of that client's own records, so each format names the
``Wrapping`` of the client whose records it reads. Text of another origin is never searched.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from compactctl.clients.records.outcomes import ResultWording
from compactctl.model.json_parser import parse_json
from compactctl.model.message import Part, Role, TextPart, ToolResultPart
from compactctl.records import Record, field, replace


class AnswerWording(Record):
    """How a client writes the result of a tool that asks the user.

    Attributes:
        pattern: matches a result that holds an answer; its group is what the user said, or a JSON
            object that holds it.
        unanswered: matches the result of a question that nobody answered.
        pairs: finds each answer in the group, beside the model's question; group 1 is the answer,
            group 2 what the user noted on it. None if the whole group is the user's.
    """

    pattern: re.Pattern[str]
    unanswered: re.Pattern[str] | None = None
    pairs: re.Pattern[str] | None = None

    def answer_in(self, text: str) -> str:
        """Return what the user said in a result, "" if nothing."""
        text = text.strip()
        match = self.pattern.fullmatch(text)
        if match is None or (self.unanswered and self.unanswered.fullmatch(text)):
            return ""
        answer = match[match.lastindex or 0].strip()
        pairs = self.pairs.finditer(answer) if self.pairs else ()
        return "; ".join(pair.expand(r"\1\2") for pair in pairs) or _strings_in(answer)


class Wrapping(Record):
    """What one client writes around the words of its user.

    Attributes:
        client: the client's name; "" if it is not known which one wrote the records.
        system_prompt: matches the beginning of its system prompt.
        tags: the tags of blocks that it puts before what the user typed. A block ends with the last
            of its closing tags, since an output or a file in it may hold one, too.
        line_tags: the same for tags that stand on lines of their own.
        notes: matches a line, or lines, without a tag that it puts there.
        tails: matches a line that it puts behind such a block.
        prompt: matches a text in which it puts what the user typed behind texts of others; group 1
            is that.
        summary: matches a text that is its summary of earlier messages.
        meanwhile: matches a text that holds what the user typed while the agent worked; group 1 is
            that.
        has_commands: whether it stores a slash command as blocks ``<command-name>`` and so on.
        answers: how it writes answers, by the name of the asking tool in lower case.
        denial: matches the result of a call that the user rejected, saying why; group 1 is that.
        own_tools: the tools whose errors it words itself; empty if those of servers are known by
            their names.
        results: how it writes in a result how the call ended.
    """

    client: str = ""
    system_prompt: re.Pattern[str] | None = None
    tags: frozenset[str] = frozenset()
    line_tags: frozenset[str] = frozenset()
    notes: re.Pattern[str] | None = None
    tails: re.Pattern[str] | None = None
    prompt: re.Pattern[str] | None = None
    summary: re.Pattern[str] | None = None
    meanwhile: re.Pattern[str] | None = None
    has_commands: bool = False
    answers: Mapping[str, AnswerWording] = field(default_factory=dict)
    denial: re.Pattern[str] | None = None
    own_tools: frozenset[str] = frozenset()
    results: ResultWording = ResultWording()


class KnownWrappings(Record):
    """The wrappings of clients that are known by their system prompts, and that of all others."""

    unknown: Wrapping
    clients: tuple[Wrapping, ...] = ()

    def by_prompt(self, prompt: Iterable[Part]) -> Wrapping | None:
        """Return the wrapping of the client with this system prompt, None if it is not known."""
        texts = [part.text.lstrip() for part in prompt if isinstance(part, TextPart)]
        return next(
            (
                wrapping
                for wrapping in self.clients
                if wrapping.system_prompt and any(map(wrapping.system_prompt.match, texts))
            ),
            None,
        )


_COMMAND = re.compile(r"<command-(name|message|args|contents)>(.*?)</command-\1>\s*", re.DOTALL)
# Names of tools of servers, as clients write them: another program answers these calls.
_SERVER_TOOL = re.compile(r"mcp__|.*[/:]")
# The keys under which an answer stands in a JSON object, beside what the model asked.
_ANSWER_KEYS = ("answers", "answer", "response", "selected", "selection", "reply", "text", "value")


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


def is_summary_from_client(parts: Iterable[Part]) -> bool:
    """Whether the parts are a summary that the client wrote, and nothing that a user typed."""
    texts = [part for part in parts if isinstance(part, TextPart)]
    return any(part.is_summary for part in texts) and is_from_client(texts)


def typed_in(text: str, wrapping: Wrapping) -> str:
    r"""Return a text without what the client put before what the user typed.

    Blocks behind words of the user are the user's, too. A text that also ends with a block of the
    client is all the client's.

    >>> reminders = Wrapping(tags=frozenset({"reminder"}))
    >>> typed_in("<reminder>Be brief.</reminder>\nPort the <reminder> tag.", reminders)
    'Port the <reminder> tag.'
    """
    if wrapping.has_commands and (command := command_in(text)):
        # A command without arguments does something in the client only.
        return command if " " in command else ""
    if wrapping.meanwhile and (match := wrapping.meanwhile.fullmatch(text)):
        return match[1].strip()
    if _is_enclosed(text, wrapping.tags | wrapping.line_tags):
        return ""
    end = _front_end(text, wrapping)
    return typed_prompt(text[end:].strip() if end else text, wrapping)


def typed_prompt(text: str, wrapping: Wrapping) -> str:
    """Return what the user typed of a prompt that may stand behind texts of others."""
    match = wrapping.prompt.fullmatch(text) if wrapping.prompt else None
    return match[1].strip() if match else text


def command_in(text: str) -> str:
    """Return a slash command with its arguments, as typed; "" for other texts."""
    if not text.lstrip().startswith("<command-"):
        return ""
    blocks = list(_command_blocks(text))
    if not blocks or blocks[-1].end() < len(text):
        return ""
    fields = {match[1]: match[2].strip() for match in blocks}
    return " ".join(filter(None, (fields.get("name"), fields.get("args"))))


def reply_in(result: ToolResultPart, wrapping: Wrapping) -> str:
    """Return the words of the user in a result, "" if there are none.

    These are the answer to a question of the client's own asking tool, or, in a result marked as
    failed, the reason for which the user rejected the call.
    """
    name = result.tool.lower()
    is_of_server = _SERVER_TOOL.match(name) is not None
    if result.has_failed:
        # The error of a server may read like anything.
        is_worded = name in wrapping.own_tools if wrapping.own_tools else not is_of_server
        match = wrapping.denial.fullmatch(result.text) if wrapping.denial and is_worded else None
        return match[1] if match else ""
    wording = None if is_of_server else wrapping.answers.get(name)
    return wording.answer_in(result.text) if wording else ""


def _is_enclosed(text: str, names: frozenset[str]) -> bool:
    """Whether a text begins with one of these tags and ends with a closing one."""
    stop = _last_visible(text, len(text))
    last = text.rfind("</", 0, stop)
    closing = _tag_pattern(names, is_closing=True).match(text, last) if last > 0 else None
    is_open = _tag_pattern(names).match(text, _first_visible(text, 0)) is not None
    return is_open and closing is not None and closing.end() == stop


def _front_end(text: str, wrapping: Wrapping) -> int:
    """Return the end of the client's blocks and lines at the start of a text, 0 if none."""
    end, pos = 0, _first_visible(text, 0)
    while ending := _block_end(text, pos, wrapping) or _note_end(text, pos, end, wrapping):
        end, pos = ending, _first_visible(text, ending)
    return end


def _block_end(text: str, start: int, wrapping: Wrapping) -> int | None:
    """Return the end of the client's block that starts there, or None.

    <task-notification>The page says: </task-notification> Push it. </task-notification>
    """
    opening = _tag_pattern(wrapping.tags | wrapping.line_tags).match(text, start)
    if opening is None:
        return None
    has_lines = opening[1] in wrapping.line_tags
    if has_lines and text[opening.end() : opening.end() + 1] != "\n":
        return None
    line_end = "\n" if has_lines else ""
    closing = text.rfind(f"{line_end}</{opening[1]}", opening.end() - has_lines)
    end = text.find(">", closing) + 1
    return end if closing >= 0 and end and "\n" not in text[closing + 1 : end] else None


def _note_end(text: str, start: int, end: int, wrapping: Wrapping) -> int | None:
    """Return the end of the client's line that starts there, or None.

    ``end`` is where the client's texts before it end, 0 if there are none.
    """
    for pattern in (wrapping.notes, wrapping.tails if end else None):
        if pattern and (match := pattern.match(text, start)):
            return match.end()
    return None


def _first_visible(text: str, pos: int) -> int:
    while pos < len(text) and text[pos].isspace():
        pos += 1
    return pos


def _last_visible(text: str, pos: int) -> int:
    while pos and text[pos - 1].isspace():
        pos -= 1
    return pos


@cache
def _tag_pattern(names: frozenset[str], *, is_closing: bool = False) -> re.Pattern[str]:
    # Without names, a pattern that matches nothing.
    alternatives = "|".join(sorted(names)) or "(?!)"
    return re.compile(rf"<{'/' * is_closing}({alternatives})(?=[\s>])[^>\n]*>")


def _command_blocks(text: str) -> Iterator[re.Match[str]]:
    """Yield the command blocks at the start of a text."""
    pos = _first_visible(text, 0)
    while (block := _COMMAND.match(text, pos)) is not None:
        yield block
        pos = block.end()


def _strings_in(text: str) -> str:
    """Return the strings that a JSON object holds as answers; any other text as it is."""
    try:
        value = parse_json(text)
    except ValueError:
        return text
    if not isinstance(value, dict):
        return text
    answers = (value[key] for key in _ANSWER_KEYS if key in value)
    return "; ".join(leaf for answer in answers for leaf in _leaves(answer))


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
    if wrapping.summary and wrapping.summary.match(part.text):
        return replace(part, typed="" if typed == part.text else typed, is_summary=True)
    return part if typed == part.text else replace(part, typed=typed)


def _with_reply(part: ToolResultPart, wrapping: Wrapping) -> ToolResultPart:
    if part.said or part.cleared:
        return part
    reply = reply_in(part, wrapping)
    return replace(part, said=reply) if reply else part
