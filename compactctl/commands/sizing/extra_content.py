"""What a request holds and its transcript does not: system prompt, tools, prompt, attachments."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compactctl.errors import UsageError
from compactctl.formats.records.decode import decode
from compactctl.formats.records.json_text import json_text
from compactctl.model.message import (
    FilePart,
    Message,
    MessageId,
    Part,
    Role,
    TextPart,
    ToolDefinitionPart,
)
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import open_input


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraOptions:
    """Files and text to count on top of a transcript; ``prompt`` is text, the rest are paths."""

    system: str | None = None
    tools: str | None = None
    prompt: str | None = None
    attach: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What a request holds before a conversation and after it, beside the transcript."""

    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()

    def around(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return messages with the extras where a request has them."""
        return (*self.before, *messages, *self.after)


NO_EXTRAS = Extras()


def read_extras(options: ExtraOptions) -> Extras:
    """Return what the options name.

    Raises NoInputError for a file that cannot be read, UsageError for tools that are not JSON.
    """
    return Extras(before=tuple(_before(options)), after=tuple(_after(options)))


def _before(options: ExtraOptions) -> Iterator[Message]:
    if options.system is not None:
        yield _message("--system", "system", TextPart(text=_text_of(options.system)))
    if options.tools is not None:
        yield _message("--tools", "system", *_definitions(options.tools))


def _after(options: ExtraOptions) -> Iterator[Message]:
    if options.prompt is not None:
        yield _message("--prompt", "user", TextPart(text=options.prompt))
    for path in options.attach:
        part = FilePart(file_path=path, text=_text_of(path))
        yield _message(f"--attach {path}", "user", part, injected=True)


def _message(name: str, role: Role, *parts: Part, injected: bool = False) -> Message:
    return Message(id=MessageId(name), role=role, parts=parts, line=-1, injected=injected)


def _text_of(path: str) -> str:
    return open_input(path, TEXT_LIMITS).data.decode("utf-8", "replace")


def _definitions(path: str) -> tuple[ToolDefinitionPart, ...]:
    values, damage = decode(open_input(path, TEXT_LIMITS).data)
    if damage is not None or not values:
        raise UsageError(f"{path}: is not JSON; --tools takes a JSON list of tool definitions")
    found = values[0]
    if isinstance(found, dict):
        found = found.get("tools", [found])
    if not isinstance(found, list):
        raise UsageError(f"{path}: holds no list; --tools takes a JSON list of tool definitions")
    return tuple(ToolDefinitionPart(name="", text=json_text(item)) for item in found)
