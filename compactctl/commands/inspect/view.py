"""Shows a transcript: what the model sees, what is hidden, or the messages that match a search."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Literal

from compactctl.asks import ONE_RUN, SHOWN, STATE, ask, flag
from compactctl.clients.records.decode import decode_lines, is_value
from compactctl.commands.client_sessions.compactions import compactions_of
from compactctl.commands.client_sessions.places import current_state
from compactctl.commands.client_sessions.undo import with_cleared_content
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.operations.find_history import archive_advice, history_behind
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.states import (
    HiddenBy,
    PastMessages,
    read_before_step,
    states_of,
)
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.commands.reading.transcript import (
    InputOptions,
    TranscriptFile,
    is_compacted,
    load,
    loaded_from,
)
from compactctl.errors import ArchiveError, UsageError
from compactctl.model.bounds import Positive
from compactctl.model.island import Island, island_of
from compactctl.model.message import FilePart, JsonPath, Message
from compactctl.model.tags import tag_fields
from compactctl.model.transcript import RawLine
from compactctl.pipeline.merge_for_view import DisplayedLine, interleave
from compactctl.pipeline.quoted_json import ValueLocation, unescape
from compactctl.pipeline.record_splice import with_added_fields
from compactctl.pipeline.spans import Array, find_array, find_locations
from compactctl.records import Record, replace
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import Source, digest_of
from compactctl.tokens.meter import part_texts

ViewScope = Literal["effective", "archived", "all"]
# A line break between the values of a record; inside of strings they are escaped.
_BREAK = re.compile(r"[ \t\r]*\n[ \t\r]*")


class ViewOptions(Record):
    """What to show of a transcript, and how much of each text.

    ``archive`` is the archive folder if not at the default location. With ``measure``, the tokens
    of each message are counted.
    """

    input: InputOptions
    what: ViewScope = "effective"
    archive: Path | None = None
    measure: MeasureOptions | None = None
    patterns: tuple[str, ...] = ask(
        (),
        "Show only messages matching REGEX in text, tool name or arguments. Start with (?i) "
        "to ignore case (repeatable; all must match).",
        STATE,
        ONE_RUN,
        flag="--grep",
        metavar="REGEX",
    )
    limit: Positive | None = ask(None, "Show N messages per page.", STATE, ONE_RUN, metavar="N")
    page: Positive = ask(
        1, "With --limit, show the Nth page. [default: 1]", STATE, ONE_RUN, metavar="N"
    )
    jsonl: bool = flag(
        "Print raw lines (or records of a document) in the transcript's own format.",
        SHOWN,
        ONE_RUN,
    )
    full: bool = flag("Do not shorten long texts.", SHOWN, ONE_RUN)

    @property
    def is_search(self) -> bool:
        """Whether messages are searched, or shown page by page."""
        return bool(self.patterns) or self.limit is not None or self.page > 1


class ViewedMessage(Record):
    """A message and its line.

    Attributes:
        hidden: what hides it, None if nothing does.
        island: the index of the island that it is on, None if it is on none.
        tokens: its size; None if it was not counted.
    """

    message: Message
    line: DisplayedLine
    hidden: HiddenBy | None = None
    island: int | None = None
    tokens: int | None = None


class ViewResult(Record):
    """What to show: raw lines in the transcript's own format, and the messages on them.

    ``n_all`` is the number of messages that there ever were; in a view of what is sent, of those in
    the file. With what is archived, ``islands`` are all of the file. After a search, ``n_matches``
    is the number of matches on all pages, ``before`` that on earlier pages.
    """

    options: ViewOptions
    lines: tuple[DisplayedLine, ...]
    messages: tuple[ViewedMessage, ...]
    n_all: int = 0
    islands: tuple[Island, ...] = ()
    n_matches: int | None = None
    before: int = 0
    warnings: tuple[str, ...] = ()


def view(options: ViewOptions) -> ViewResult:
    """Show a transcript, all of it or the result of a search.

    Raises as reading does; ArchiveError for a damaged archive, or a missing one that is needed;
    UsageError for an invalid regular expression, and for a page without a limit.
    """
    loaded = load(options.input)
    result = _viewed_all(loaded, options)
    result = _search(result) if options.is_search else result
    if options.measure is None:
        return result
    meter = measure(loaded.transcript, options.measure).meter
    meter.prime(viewed.message for viewed in result.messages)
    counted = (replace(v, tokens=meter.message(v.message)) for v in result.messages)
    return replace(result, messages=tuple(counted))


def all_messages(loaded: TranscriptFile, history: OperationHistory) -> tuple[ViewedMessage, ...]:
    """Return all messages there ever were, in order; raises ArchiveError for a damaged archive."""
    return tuple(_viewed(*_whole(loaded, history)))


def hidden_lines(path: str, format_name: str, limits: ReadLimits) -> Iterator[bytes]:
    """Yield the lines that are not sent, with their tags if any; raises as ``view`` does."""
    read = InputOptions(path=path, format=format_name, limits=limits)
    return (line.data for line in view(ViewOptions(input=read, what="archived")).lines)


def require_archive(loaded: TranscriptFile, history: OperationHistory, path: str) -> None:
    """Raise ArchiveError if tags show a compaction whose originals are missing."""
    if history.timeline.steps or not is_compacted(loaded.lines, loaded.transcript):
        return
    advice = archive_advice(loaded.source, path)
    raise ArchiveError(f"{path}: archive not found; {advice}")


def records_of(result: ViewResult) -> Iterator[bytes]:
    """Yield the raw lines of a view; for a document, the record of each message instead.

    A record has the same text as in the document, except for line breaks between its values and the
    tag of what hides it. A damaged document is a raw line like any other.
    """
    documents = _whole_documents(result.messages)
    if not documents:
        yield from (line.data for line in result.lines)
        return
    arrays: dict[tuple[int, JsonPath], tuple[str, Array]] = {}
    for viewed in result.messages:
        if not viewed.message.record_path or viewed.line.state_index not in documents:
            yield viewed.line.data
            continue
        key = (viewed.line.state_index, viewed.message.record_path[:-1])
        if key not in arrays:
            text = viewed.line.lines[viewed.line.index].decode("utf-8", "surrogateescape")
            arrays[key] = text, find_array(text, key[1])
        yield _record(viewed.message, *arrays[key])


def sent_records(pieces: Iterable[bytes], path: str, format_name: str) -> Iterator[bytes]:
    """Yield the records of the effective messages of a transcript, one per line.

    ``pieces`` are its lines, and ``path`` names it in errors. Raises NotUnderstoodError as
    ``load``.
    """
    lines = tuple(pieces)
    source = Source(path=None, lines=lines, digest=digest_of(lines))
    sent = _sent_messages(loaded_from(source, path, format_name), ViewOptions(input=InputOptions()))
    for record in records_of(sent):
        yield record if record.endswith(b"\n") else record + b"\n"


def _viewed_all(loaded: TranscriptFile, options: ViewOptions) -> ViewResult:
    if options.what == "effective":
        return _sent_messages(loaded, options)
    history = history_behind(loaded, options.archive)
    require_archive(loaded, history, options.input.path)
    lines, states = _whole(loaded, history)
    messages = tuple(_viewed(lines, states))
    if options.what == "all":
        return ViewResult(
            options=options,
            lines=lines,
            messages=messages,
            n_all=len(messages),
            warnings=history.warnings,
        )
    n_all = len(messages)
    islands = tuple(_islands(loaded, states))
    messages = _not_sent(messages, islands)
    on_islands = {viewed.message.line for viewed in messages if viewed.island is not None}
    return ViewResult(
        options=options,
        lines=tuple(
            line
            for index, line in enumerate(lines)
            if line.hidden_by is not None or index in on_islands
        ),
        messages=messages,
        n_all=n_all,
        islands=islands,
        warnings=history.warnings,
    )


def _islands(loaded: TranscriptFile, states: Sequence[PastMessages]) -> Iterator[Island]:
    """Yield the islands of the file: those of the client's compactions, then all others."""
    yield from _before_compactions(loaded, states[-1])
    messages_by_id = {
        message.id: message
        for message in loaded.transcript.messages
        if not message.origin.is_synthetic
    }
    for state in states:
        for message_id in state.hidden:
            messages_by_id.pop(message_id, None)
    lines = decode_lines(RawLine(index, line) for index, line in enumerate(loaded.lines))
    for island in loaded.format.islands(lines):
        names = (name for name in island.messages if name in messages_by_id)
        if messages := [messages_by_id[name] for name in names]:
            yield island_of(island.kind, messages)


def _before_compactions(loaded: TranscriptFile, newest: PastMessages) -> Iterator[Island]:
    """Yield what the client's compactions hide, each up to the last message before it.

    Nothing of a document, which has no lines to continue from.
    """
    transcript = loaded.transcript
    if transcript.is_document:
        return
    sent_ids = {message.id for message in transcript.effective}
    for compaction in compactions_of(current_state(loaded)):
        hidden = [
            message
            for message in transcript.messages
            if message.id not in sent_ids
            and (by := newest.hidden.get(message.id)) is not None
            and by.group == compaction.id
        ]
        if hidden:
            before = (
                message.line
                for message in transcript.messages
                if message.line < compaction.line - 1 and not message.origin.is_subagent
            )
            island = island_of("before a compaction", hidden)
            yield replace(island, last=max(before, default=island.last))


def _not_sent(
    messages: Iterable[ViewedMessage], islands: Sequence[Island]
) -> tuple[ViewedMessage, ...]:
    """Return the messages that are hidden, or on an island."""
    indices = {name: index for index, island in enumerate(islands) for name in island.messages}
    return tuple(
        replace(viewed, island=indices.get(viewed.message.id))
        for viewed in messages
        if viewed.hidden is not None or viewed.message.id in indices
    )


def _sent_messages(loaded: TranscriptFile, options: ViewOptions) -> ViewResult:
    """Show the messages that the next request would send."""
    messages = loaded.transcript.effective
    lines = {message.line: DisplayedLine(loaded.lines, message.line) for message in messages}
    return ViewResult(
        options=options,
        lines=tuple(lines.values()),
        messages=tuple(ViewedMessage(message=m, line=lines[m.line]) for m in messages),
        n_all=len({m.id for m in (*messages, *loaded.transcript.messages)}),
        warnings=loaded.transcript.warnings,
    )


def _whole(
    loaded: TranscriptFile, history: OperationHistory
) -> tuple[tuple[DisplayedLine, ...], tuple[PastMessages, ...]]:
    """Return all lines there ever were, in order, and the states that hold them, oldest first."""
    # Inline steps before the first archive: their originals are in the oldest archived state.
    steps = tuple(dropwhile(lambda step: not isinstance(step, ArchivedStep), history.chain))
    before_steps = [read_before_step(step, loaded.format) for step in steps]
    rows = [state.rows for state in before_steps]
    after = [*(tuple(row.raw for row in state) for state in rows[1:]), loaded.lines]
    lines = tuple(DisplayedLine(loaded.lines, row) for row in range(len(loaded.lines)))
    if rows:
        lines = interleave(list(zip(rows, after, strict=True)))
    states = states_of(steps, before_steps, loaded.transcript)
    states = (*states[:-1], _with_client(states[-1], loaded))
    return tuple(_marked(lines, states)), states


def _with_client(newest: PastMessages, loaded: TranscriptFile) -> PastMessages:
    """Add what the client compacted to what is hidden in the newest state."""
    state = current_state(loaded)
    compactions = compactions_of(state)
    if not compactions:
        return newest
    sent = {message.id: message.parts for message in loaded.transcript.effective}
    restored = with_cleared_content(state, loaded.lines)
    messages_by_id = {m.id: restored.get(m.id, m) for m in loaded.transcript.messages}
    hidden = {
        message_id: HiddenBy(group=compaction.id, tag="", stage=compaction.client)
        for compaction in reversed(compactions)
        for message_id in compaction.hidden
        if message_id in messages_by_id and sent.get(message_id) != messages_by_id[message_id].parts
    }
    messages = {
        line: [messages_by_id[message.id] for message in line_messages]
        for line, line_messages in newest.messages.items()
    }
    return PastMessages(messages=messages, hidden={**newest.hidden, **hidden})


def _marked(
    lines: Sequence[DisplayedLine], states: Sequence[PastMessages]
) -> Iterator[DisplayedLine]:
    """Yield the lines; those of the newest state with the group that hides their first message.

    Lines of earlier states that hide nothing any more are left out.
    """
    for line in lines:
        state = states[line.state_index]
        hidden = [m.id for m in state.messages.get(line.index, ()) if m.id in state.hidden]
        if state is states[-1]:
            yield replace(line, hidden_by=state.hidden[hidden[0]].group if hidden else None)
        elif hidden:
            yield line


def _viewed(
    lines: Sequence[DisplayedLine], states: Sequence[PastMessages]
) -> Iterator[ViewedMessage]:
    """Yield the messages on the lines; of a rewritten line, those missing from the new one."""
    newest = states[-1]
    for index, line in enumerate(lines):
        state = states[line.state_index]
        for message in state.messages.get(line.index, ()):
            by = state.hidden.get(message.id)
            if by is not None or state is newest:
                yield _viewed_message(replace(message, line=index), line, by)


def _viewed_message(message: Message, line: DisplayedLine, by: HiddenBy | None) -> ViewedMessage:
    if by is None:
        return ViewedMessage(message=message, line=line)
    tagged = replace(message, tags=by.add_to(message.tags))
    return ViewedMessage(message=tagged, line=line, hidden=by)


def _search(result: ViewResult) -> ViewResult:
    """Return the messages of a view that match, and their lines.

    Raises:
        UsageError: a pattern is not a regular expression, or a page is requested without a limit.
    """
    options = result.options
    if options.page > 1 and options.limit is None:
        raise UsageError("--page needs --limit")
    patterns = [_compiled(pattern) for pattern in options.patterns]
    matching = [viewed for viewed in result.messages if _says(viewed.message, patterns)]
    start = (options.page - 1) * (options.limit or 0)
    stop = None if options.limit is None else start + options.limit
    shown = tuple(matching[start:stop])
    lines = {viewed.message.line: viewed.line for viewed in shown}
    return replace(
        result,
        lines=tuple(lines.values()),
        messages=shown,
        n_matches=len(matching),
        before=min(start, len(matching)),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--grep {pattern!r} is not a regular expression: {error}") from error


def _says(message: Message, patterns: Sequence[re.Pattern[str]]) -> bool:
    """Return whether every pattern matches a message's text, tool names or arguments."""
    texts = list(_texts(message))
    return all(any(pattern.search(text) for text in texts) for pattern in patterns)


def _texts(message: Message) -> Iterator[str]:
    """Yield the texts that are shown of a message: also tool names, arguments and file paths."""
    for part in message.parts:
        yield from part_texts(part)
        if isinstance(part, FilePart):
            yield part.file_path


def _whole_documents(messages: Iterable[ViewedMessage]) -> frozenset[int]:
    """Return the indices of the states that are one document, which holds some of the messages."""
    lines_by_state = {
        viewed.line.state_index: viewed.line.lines
        for viewed in messages
        if viewed.message.record_path
    }
    return frozenset(
        index for index, lines in lines_by_state.items() if len(lines) == 1 and is_value(lines[0])
    )


def _record(message: Message, text: str, array: Array) -> bytes:
    index = message.record_path[-1]
    if isinstance(index, int) and index < len(array.elements):
        place = ValueLocation(*array.elements[index], array.depth)
    else:
        place = find_locations(text, [message.record_path])[message.record_path]
    record = _BREAK.sub(" ", unescape(place.cut(text), place.depth))
    if record.endswith("}"):
        tags = tag_fields(message.tags).items()
        record = with_added_fields(record, {n: v for n, v in tags if f'"{n}"' not in record})
    return f"{record}\n".encode("utf-8", "surrogateescape")
