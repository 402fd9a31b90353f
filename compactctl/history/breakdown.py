"""Where the tokens of a conversation go: by category, message, tool and file."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from compactctl.history.categories import Category, categorize, category_tokens
from compactctl.history.pairs import PartIndex, iter_parts, result_tools
from compactctl.history.reads import FileRead, find_file_reads, find_superseded, group_by_path
from compactctl.model.message import Message, MessageId, Role, ToolCallPart, ToolResultPart
from compactctl.records import Record
from compactctl.tokens.meter import Meter


class LargeMessage(Record):
    """One of the largest messages; ``line`` is the index of its raw line."""

    id: MessageId
    line: int
    role: Role
    tools: tuple[str, ...]
    tokens: int


class ToolUse(Record):
    """The tokens of one tool's calls and of its results, media included."""

    tool: str
    calls: int
    call_tokens: int
    results: int
    result_tokens: int
    errors: int


class Reread(Record):
    """A file that a conversation read more than once.

    ``identical`` counts older reads whose content a later read shows again; ``tokens`` are those
    of all reads but the newest, ``identical_tokens`` those of the identical ones.
    """

    path: str
    reads: int
    identical: int
    tokens: int
    identical_tokens: int


class Breakdown(Record):
    """The tokens of messages; ``categories`` has every category, and they add up to ``total``."""

    total: int
    categories: Mapping[Category, int]
    largest: tuple[LargeMessage, ...]
    tools: tuple[ToolUse, ...]
    rereads: tuple[Reread, ...]


def break_down(
    messages: Sequence[Message], meter: Meter, *, cwd: str | None = None, largest: int = 10
) -> Breakdown:
    """Break down the tokens of one or more conversations; lists are sorted, largest first."""
    reads = find_file_reads(messages, cwd=cwd)
    names = result_tools(messages)
    return Breakdown(
        total=meter.total(messages),
        categories=category_tokens(messages, reads, meter),
        largest=_largest(messages, names, meter, largest),
        tools=tool_uses(messages, names, meter),
        rereads=_rereads(messages, reads, meter),
    )


def _largest(
    messages: Sequence[Message], names: Mapping[PartIndex, str], meter: Meter, count: int
) -> tuple[LargeMessage, ...]:
    sizes = [meter.message(message) for message in messages]
    return tuple(
        LargeMessage(
            id=messages[index].id,
            line=messages[index].line,
            role=messages[index].role,
            tools=_tools_in(messages[index], index, names),
            tokens=sizes[index],
        )
        for index in sorted(range(len(messages)), key=lambda index: -sizes[index])[:count]
    )


def _tools_in(message: Message, index: int, names: Mapping[PartIndex, str]) -> tuple[str, ...]:
    answered = [names.get(PartIndex(index, position), "") for position in range(len(message.parts))]
    called = [call.tool for call in message.calls]
    return tuple(dict.fromkeys(tool for tool in answered + called if tool))


def tool_uses(
    messages: Sequence[Message], names: Mapping[PartIndex, str], meter: Meter
) -> tuple[ToolUse, ...]:
    """Return the uses of each tool, largest first; ``names`` are those of ``result_tools``."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for index, part in iter_parts(messages):
        if isinstance(part, ToolCallPart):
            count = counts[part.tool]
            count["calls"] += 1
            count["call_tokens"] += meter.part(part)
        elif isinstance(part, ToolResultPart):
            count = counts[names[index]]
            count["results"] += 1
            count["result_tokens"] += meter.part(part)
            count["errors"] += part.has_failed
    uses = (
        ToolUse(
            tool=tool,
            calls=count["calls"],
            call_tokens=count["call_tokens"],
            results=count["results"],
            result_tokens=count["result_tokens"],
            errors=count["errors"],
        )
        for tool, count in counts.items()
    )
    return tuple(sorted(uses, key=lambda use: (-use.call_tokens - use.result_tokens, use.tool)))


def reread_tokens(messages: Sequence[Message], reads: Sequence[FileRead], meter: Meter) -> int:
    """Return the tokens of all reads of a file but the newest; ``Reread.tokens`` in total."""
    return sum(
        _read_tokens(messages, read, meter)
        for reads_of_file in _repeated_reads(messages, reads)
        for read in reads_of_file[:-1]
    )


def _repeated_reads(
    messages: Sequence[Message], reads: Sequence[FileRead]
) -> Iterator[list[FileRead]]:
    """Yield the reads of each file that a conversation read more than once."""
    # By conversation: a file that two conversations read once each was not read again.
    groups: dict[int, list[FileRead]] = defaultdict(list)
    for read in reads:
        groups[messages[read.part_index.message].conversation].append(read)
    for group in groups.values():
        yield from (same for same in group_by_path(group).values() if len(same) > 1)


def _read_tokens(messages: Sequence[Message], read: FileRead, meter: Meter) -> int:
    return meter.part(messages[read.part_index.message].parts[read.part_index.part])


def _rereads(
    messages: Sequence[Message], reads: Sequence[FileRead], meter: Meter
) -> tuple[Reread, ...]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for reads_of_file in _repeated_reads(messages, reads):
        covered = find_superseded(reads_of_file)
        for read in reads_of_file:
            tokens = _read_tokens(messages, read, meter)
            is_repeated = read.part_index in covered
            count = counts[read.path]
            count["reads"] += 1
            count["identical"] += is_repeated
            count["tokens"] += tokens * (read is not reads_of_file[-1])
            count["identical_tokens"] += tokens * is_repeated
    rereads = (
        Reread(
            path=path,
            reads=count["reads"],
            identical=count["identical"],
            tokens=count["tokens"],
            identical_tokens=count["identical_tokens"],
        )
        for path, count in counts.items()
    )
    return tuple(sorted(rereads, key=lambda reread: (-reread.tokens, reread.path)))


class MessageTokens(Record, kw_only=False):
    """The tokens of one message by category, and those of its tool results by tool."""

    categories: Counter[Category]
    tools: Counter[str]


def message_tokens(
    messages: Sequence[Message], cwd: str | None, meter: Meter
) -> list[MessageTokens]:
    """Return the tokens of each message; paths of file reads are relative to ``cwd``."""
    tokens_by_message = [MessageTokens(Counter(), Counter()) for _ in messages]
    reads = find_file_reads(messages, cwd=cwd)
    for index, category, tokens in categorize(messages, reads, meter):
        tokens_by_message[index.message].categories[category] += tokens
    for index, tool in result_tools(messages).items():
        part = messages[index.message].parts[index.part]
        tokens_by_message[index.message].tools[tool] += meter.part(part)
    return tokens_by_message
