"""The timeline of a session: the contents of each request, and the lifetime of each message."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from compactctl.commands.measuring.context_size import ContextSize
from compactctl.history.categories import Category, categorize
from compactctl.history.pairs import PartIndex, result_tools
from compactctl.history.reads import FileRead, find_file_reads, find_superseded, group_by_path
from compactctl.history.usage.costs import UNSEEN, context_shares
from compactctl.history.usage.rounds import Round, Rounds, counted_rounds, find_rounds
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.records import Record
from compactctl.tokens.meter import Meter

# The part of a request that no message explains, as far as it was inferred from usage.
OVERHEAD = "system prompt and tools"


class TimelineMessage(Record):
    """A message and its lifetime.

    Attributes:
        message: as the next request sends it, else as the transcript has it.
        tokens: its size.
        category: the category with most of its tokens, as the transcript has it.
        tools: the tools that it calls, or whose results it holds.
        first_round: the number of the first round that sent it, None if none did.
        is_sent: whether the next request includes it.
    """

    message: Message
    tokens: int
    category: Category
    tools: tuple[str, ...]
    first_round: int | None
    is_sent: bool


class TimelineFile(Record):
    """A file that was read.

    ``reads`` are the indices of the messages that show it, in order; ``covered`` are those repeated
    by a later read. ``tokens`` is its share of the next request.
    """

    path: str
    reads: tuple[int, ...]
    covered: frozenset[int]
    tokens: int


class Timeline(Record):
    """The data behind a picture of a session.

    Attributes:
        rounds: its requests.
        is_reported: whether the provider reported their sizes; else they were counted.
        contexts: for each round, the tokens of its context by category, with ``OVERHEAD`` and
            ``UNSEEN`` for what no message explains; they add up to the context.
        messages: all messages there ever were, in file order.
        files: the files that were read, largest share of the next request first.
    """

    rounds: Rounds
    is_reported: bool
    contexts: tuple[Mapping[str, int], ...]
    messages: tuple[TimelineMessage, ...]
    files: tuple[TimelineFile, ...]


def timeline_of(transcript: Transcript, meter: Meter, size: ContextSize) -> Timeline:
    """Return a session's timeline; ``size`` is that of its next request."""
    rounds = find_rounds(transcript, meter)
    is_reported = bool(rounds.rounds)
    if not is_reported:
        rounds = counted_rounds(transcript, meter)
    reads = find_file_reads(transcript.messages, cwd=transcript.session.cwd)
    return Timeline(
        rounds=rounds,
        is_reported=is_reported,
        contexts=_held(rounds.rounds, size.overhead),
        messages=_messages(transcript, rounds.rounds, reads, meter),
        files=_files(transcript, reads, meter),
    )


def _held(rounds: Sequence[Round], overhead: int) -> tuple[Mapping[str, int], ...]:
    return tuple(
        _with_overhead(_whole(share, r.usage.context), overhead)
        for r, share in zip(rounds, context_shares(rounds), strict=True)
    )


def _whole(shares: Mapping[str, float], context: int) -> dict[str, int]:
    """Return integer tokens by category that add up to ``context``."""
    sums, so_far = [0], 0.0
    for share in shares.values():
        so_far += share
        sums.append(min(context, round(so_far * context)))
    sums[-1] = context
    sizes = (upper - lower for lower, upper in pairwise(sums))
    return dict(zip(shares, sizes, strict=True))


def _with_overhead(tokens_by_category: dict[str, int], overhead: int) -> Mapping[str, int]:
    """Split the unseen tokens into the inferred overhead and the remainder."""
    inferred = min(tokens_by_category[UNSEEN], overhead)
    return {**tokens_by_category, OVERHEAD: inferred, UNSEEN: tokens_by_category[UNSEEN] - inferred}


def _messages(
    transcript: Transcript, rounds: Sequence[Round], reads: Sequence[FileRead], meter: Meter
) -> tuple[TimelineMessage, ...]:
    messages = transcript.messages
    sizes = _sizes(messages, reads, meter)
    tools = _tools(messages)
    effective_by_id = {message.id: message for message in transcript.effective}
    answers = _answers(messages, rounds)
    return tuple(
        TimelineMessage(
            message=effective_by_id.get(message.id, message),
            tokens=meter.message(effective_by_id.get(message.id, message)),
            category=max(sizes[index], key=sizes[index].__getitem__, default="other"),
            tools=tools.get(index, ()),
            # Messages of subagents are in none of the contexts shown.
            first_round=None if message.origin.is_subagent else _next(answers, message, index),
            is_sent=message.id in effective_by_id,
        )
        for index, message in enumerate(messages)
    )


def _sizes(
    messages: Sequence[Message], reads: Sequence[FileRead], meter: Meter
) -> Mapping[int, Counter[Category]]:
    sizes: dict[int, Counter[Category]] = defaultdict(Counter)
    for part_index, category, tokens in categorize(messages, reads, meter):
        sizes[part_index.message][category] += tokens
    return sizes


def _tools(messages: Sequence[Message]) -> Mapping[int, tuple[str, ...]]:
    """Return the tools of each message that has any, results first."""
    named: dict[int, dict[str, None]] = defaultdict(dict)
    for part_index, tool in result_tools(messages).items():
        named[part_index.message].setdefault(tool)
    for index, message in enumerate(messages):
        for call in message.calls:
            named[index].setdefault(call.tool)
    return {index: tuple(filter(None, tools)) for index, tools in named.items()}


def _answers(
    messages: Sequence[Message], rounds: Sequence[Round]
) -> Mapping[int, list[tuple[int, int]]]:
    """Return by conversation the index where each answer begins, and the number of its round."""
    index_by_id = {message.id: index for index, message in enumerate(messages)}
    answers: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for r in rounds:
        answers[r.place.conversation].append((index_by_id[r.place.message], r.place.number))
    return {conversation: sorted(starts) for conversation, starts in answers.items()}


def _next(answers: Mapping[int, list[tuple[int, int]]], message: Message, index: int) -> int | None:
    """Return the number of the first round whose answer begins after a message."""
    starts = answers.get(message.conversation, [])
    pos = bisect_right(starts, index, key=lambda answer: answer[0])
    return starts[pos][1] if pos < len(starts) else None


def _files(
    transcript: Transcript, reads: Sequence[FileRead], meter: Meter
) -> tuple[TimelineFile, ...]:
    current_reads = find_file_reads(transcript.effective, cwd=transcript.session.cwd)
    covered = find_superseded(reads)
    tokens: Counter[str] = Counter()
    for read in current_reads:
        tokens[read.path] += _size(transcript.effective, read.part_index, meter)
    files = (
        TimelineFile(
            path=path,
            reads=tuple(read.part_index.message for read in path_reads),
            covered=frozenset(
                read.part_index.message for read in path_reads if read.part_index in covered
            ),
            tokens=tokens[path],
        )
        for path, path_reads in group_by_path(reads).items()
    )
    return tuple(sorted(files, key=lambda file: (-file.tokens, -len(file.reads), file.path)))


def _size(messages: Sequence[Message], part_index: PartIndex, meter: Meter) -> int:
    return meter.part(messages[part_index.message].parts[part_index.part])
