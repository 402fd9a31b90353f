"""A session's timeline: what each of its requests held, and what became of every message."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from compactctl.commands.measuring.context_size import ContextSize
from compactctl.history.categories import Category, categorize
from compactctl.history.pairs import PartIndex, result_tools
from compactctl.history.reads import FileRead, find_file_reads, find_superseded, group_by_path
from compactctl.history.usage.costs import UNSEEN, context_shares
from compactctl.history.usage.rounds import Round, Rounds, counted_rounds, find_rounds
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.meter import Meter

# What of a request no message explains, as far as it was inferred from the usage.
OVERHEAD = "overhead"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineMessage:
    """A message, and how long it lived.

    Attributes:
        message: as the next request sends it, else as the transcript has it.
        tokens: its size, ``category`` where most of what it was belongs.
        tools: the tools that it calls, and whose results it holds.
        first_round: the number of the first round that sent it, None when none did.
        is_sent: whether the next request sends it.
    """

    message: Message
    tokens: int
    category: Category
    tools: tuple[str, ...]
    first_round: int | None
    is_sent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineFile:
    """A file that was read.

    ``reads`` are the indices of the messages that show it, in order, ``covered`` those of them
    whose content a later read shows again; ``tokens`` is what the next request holds of it.
    """

    path: str
    reads: tuple[int, ...]
    covered: frozenset[int]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All that a picture of a session is drawn from.

    Attributes:
        rounds: its requests; ``is_reported`` tells whether the provider reported them, or they
            were counted for want of that.
        held: for each, the tokens of its context by category, with ``OVERHEAD`` and ``UNSEEN`` for
            what no message explains; they add up to the context.
        messages: everything that was ever a message, in file order.
        files: the files that were read, those first that take most of the next request.
    """

    rounds: Rounds
    is_reported: bool
    held: tuple[Mapping[str, int], ...]
    messages: tuple[TimelineMessage, ...]
    files: tuple[TimelineFile, ...]


def timeline_of(transcript: Transcript, meter: Meter, size: ContextSize) -> Timeline:
    """Return a session's timeline; ``size`` is what its next request was inferred to hold."""
    found = find_rounds(transcript, meter)
    is_reported = bool(found.rounds)
    if not is_reported:
        found = counted_rounds(transcript, meter)
    reads = find_file_reads(transcript.messages, cwd=transcript.session.cwd)
    return Timeline(
        rounds=found,
        is_reported=is_reported,
        held=_held(found.rounds, size.overhead),
        messages=_messages(transcript, found.rounds, reads, meter),
        files=_files(transcript, reads, meter),
    )


def _held(found: Sequence[Round], overhead: int) -> tuple[Mapping[str, int], ...]:
    return tuple(
        _with_overhead(_whole(share, each.usage.context), overhead)
        for each, share in zip(found, context_shares(found), strict=True)
    )


def _whole(shares: Mapping[str, float], context: int) -> dict[str, int]:
    """Return whole tokens by category, which add up to the context."""
    sums, so_far = [0], 0.0
    for share in shares.values():
        so_far += share
        sums.append(min(context, round(so_far * context)))
    sums[-1] = context
    sizes = (upper - lower for lower, upper in pairwise(sums))
    return dict(zip(shares, sizes, strict=True))


def _with_overhead(held: dict[str, int], overhead: int) -> Mapping[str, int]:
    """Return the same with what is not in the transcript parted in what is known of it and not."""
    known = min(held[UNSEEN], overhead)
    return {**held, OVERHEAD: known, UNSEEN: held[UNSEEN] - known}


def _messages(
    transcript: Transcript, found: Sequence[Round], reads: Sequence[FileRead], meter: Meter
) -> tuple[TimelineMessage, ...]:
    messages = transcript.messages
    sizes = _sizes(messages, reads, meter)
    tools = _tools(messages)
    sent = {message.id: message for message in transcript.effective}
    answers = _answers(messages, found)
    return tuple(
        TimelineMessage(
            message=sent.get(message.id, message),
            tokens=meter.message(sent.get(message.id, message)),
            category=max(sizes[index], key=sizes[index].__getitem__, default="other"),
            tools=tools.get(index, ()),
            # A subagent's are in none of the contexts that are shown.
            first_round=None if message.origin.is_subagent else _next(answers, message, index),
            is_sent=message.id in sent,
        )
        for index, message in enumerate(messages)
    )


def _sizes(
    messages: Sequence[Message], reads: Sequence[FileRead], meter: Meter
) -> Mapping[int, Counter[Category]]:
    sizes: dict[int, Counter[Category]] = defaultdict(Counter)
    for place, category, tokens in categorize(messages, reads, meter):
        sizes[place.message][category] += tokens
    return sizes


def _tools(messages: Sequence[Message]) -> Mapping[int, tuple[str, ...]]:
    """Return the tools of each message that has any, results first."""
    named: dict[int, dict[str, None]] = defaultdict(dict)
    for place, tool in result_tools(messages).items():
        named[place.message].setdefault(tool)
    for index, message in enumerate(messages):
        for call in message.calls:
            named[index].setdefault(call.tool)
    return {index: tuple(filter(None, tools)) for index, tools in named.items()}


def _answers(
    messages: Sequence[Message], found: Sequence[Round]
) -> Mapping[int, list[tuple[int, int]]]:
    """Return, by conversation, where each answer begins, and the number of its round."""
    places = {message.id: index for index, message in enumerate(messages)}
    answers: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for each in found:
        answers[each.place.conversation].append((places[each.place.message], each.place.number))
    return {conversation: sorted(begun) for conversation, begun in answers.items()}


def _next(answers: Mapping[int, list[tuple[int, int]]], message: Message, index: int) -> int | None:
    """Return the number of the first round whose answer begins behind a message."""
    begun = answers.get(message.conversation, [])
    at = bisect_right(begun, index, key=lambda answer: answer[0])
    return begun[at][1] if at < len(begun) else None


def _files(
    transcript: Transcript, reads: Sequence[FileRead], meter: Meter
) -> tuple[TimelineFile, ...]:
    now = find_file_reads(transcript.effective, cwd=transcript.session.cwd)
    covered = find_superseded(reads)
    tokens: Counter[str] = Counter()
    for read in now:
        tokens[read.path] += _size(transcript.effective, read.part_index, meter)
    files = (
        TimelineFile(
            path=path,
            reads=tuple(read.part_index.message for read in same),
            covered=frozenset(
                read.part_index.message for read in same if read.part_index in covered
            ),
            tokens=tokens[path],
        )
        for path, same in group_by_path(reads).items()
    )
    return tuple(sorted(files, key=lambda file: (-file.tokens, -len(file.reads), file.path)))


def _size(messages: Sequence[Message], place: PartIndex, meter: Meter) -> int:
    return meter.part(messages[place.message].parts[place.part])
