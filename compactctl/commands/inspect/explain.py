"""Explains one message of a transcript."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from compactctl.commands.client_sessions.compactions import compactions_of
from compactctl.commands.client_sessions.places import current_state
from compactctl.commands.inspect.view import ViewedMessage, all_messages, require_archive
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.measuring.timeline import Timeline, TimelineMessage, timeline_of
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.states import HiddenBy, originals_of
from compactctl.commands.planning.fates import MessageFate, message_fates
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.planning.run_stages import SizedTranscript, StageInputs, run_stages
from compactctl.commands.reading.transcript import InputOptions, TranscriptFile, load
from compactctl.errors import UsageError
from compactctl.history.categories import Category
from compactctl.history.pairs import tool_pairs
from compactctl.history.reads import (
    find_file_edits,
    find_file_reads,
    find_superseded,
    group_by_path,
)
from compactctl.history.references import messages_named, parse_reference
from compactctl.model.message import Message, MessageId, Tags
from compactctl.model.transcript import Omission
from compactctl.profiles.profile import Profile
from compactctl.records import Record, field, replace
from compactctl.tokens.meter import Meter

# In the order in which they are shown.
LinkKind = Literal["call", "result", "reads again", "edits", "stands for it", "hidden by it"]
Way = Literal["group", "operation", "client", "client, all"]
# More ids than this are not listed in an error.
_LISTED = 5
# The minimum length of an abbreviated id: a line number may be the beginning of an id, too.
_MIN_ID_LENGTH = 4


class ExplainOptions(Record):
    """The message to explain: an id, the beginning of one, a line from 1, or a reference (L12).

    ``archive`` is the transcript's archive folder if not at the default location.
    """

    input: InputOptions
    message: str
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    archive: Path | None = None


class MessageLink(Record):
    """Another message, and its relation to the explained one.

    Attributes:
        kind: the relation.
        id: the other message.
        line: its line, from 1; None if it is only in the archive.
        role: its role.
        what: the tool of a call or result, the file that is read or edited, else the group.
        covers: whether a later read of a file repeats everything shown before.
    """

    kind: LinkKind
    id: MessageId
    line: int | None
    role: str
    what: str
    covers: bool = False


_Link = Callable[..., MessageLink]


class SentSince(Record):
    """Since when a message is sent: from request ``first`` of ``requests``, from 1.

    ``is_reported`` tells whether the provider reported the requests; else they were counted.
    """

    first: int
    requests: int
    is_reported: bool


class RestoreCommand(Record):
    """How to restore a hidden message: by its group, or by undoing what hid it."""

    way: Way
    group: str


class ExplainResult(Record):
    """Everything known about one message.

    Attributes:
        options: the options.
        format: the format of the transcript.
        measure: how tokens were counted.
        entry: the message, its size, and whether the next request includes it.
        line: its line, from 1; None if it is only in the archive.
        hidden: what hides it: a group or a compaction by the client, and the stage or the client.
        sent_since: since when it is sent, None if never or unknown.
        fate: its fate in a compaction with the profile, None if it is not sent.
        links: related messages.
        omissions: what the client leaves out of it, or replaces.
        restore: how to restore it, or the messages it replaces; None if nothing is hidden.
        warnings: what the user should know.
    """

    options: ExplainOptions
    format: str
    measure: Measurement
    entry: TimelineMessage
    line: int | None
    hidden: HiddenBy | None
    sent_since: SentSince | None
    fate: MessageFate | None
    links: tuple[MessageLink, ...]
    omissions: tuple[Omission, ...]
    restore: RestoreCommand | None
    warnings: tuple[str, ...]

    @property
    def category(self) -> Category | None:
        """The category of most of the message; None if it is only in the archive."""
        return None if self.line is None else self.entry.category

    @property
    def profile(self) -> Profile:
        """The profile that determines the fate."""
        return Recipe(measure=self.options.measure).profile


def explain_message(options: ExplainOptions) -> ExplainResult:
    """Explain a message; nothing is written.

    Raises as ``view`` does, and UsageError if no message, or more than one, matches.
    """
    loaded = load(options.input)
    history = history_behind(loaded, options.archive)
    every_state = all_messages(loaded, history)
    all_viewed = _once(every_state)
    lines = {message.id: message.line + 1 for message in loaded.transcript.messages}
    compacted = _compacted(options.message, originals_of(loaded, history))
    index = _place(options, all_viewed, compacted, loaded, history)
    viewed, transcript = all_viewed[index], loaded.transcript
    measured = measure(transcript, options.measure)
    measured.meter.prime(transcript.messages)
    size = context_size(transcript, measured)
    timeline = timeline_of(transcript, measured.meter, size)
    timeline_entry = {entry.message.id: entry for entry in timeline.messages}.get(viewed.message.id)
    entry = _as_viewed(timeline_entry, viewed, measured.meter)
    recipe = Recipe(measure=options.measure)
    return ExplainResult(
        options=options,
        format=loaded.format.name,
        measure=measured.without_cached_texts(),
        entry=entry,
        line=lines.get(viewed.message.id),
        hidden=viewed.hidden,
        sent_since=_sent_since(timeline, timeline_entry),
        fate=_fate(viewed.message.id, loaded, history, measured, recipe) if entry.is_sent else None,
        links=_links_of(index, all_viewed, lines, transcript.session.cwd),
        omissions=tuple(o for o in transcript.omissions if o.message == viewed.message.id),
        restore=_restore_command(viewed, loaded, history),
        warnings=(
            *transcript.warnings,
            *((size.doubt,) if size.doubt else ()),
            *history.warnings,
        ),
    )


def _once(all_viewed: Sequence[ViewedMessage]) -> tuple[ViewedMessage, ...]:
    """Return every message once: as it is sent if it is, else as it was last."""
    chosen: dict[MessageId, ViewedMessage] = {}
    for viewed_message in all_viewed:
        if viewed_message.hidden is None or viewed_message.message.id not in chosen:
            chosen[viewed_message.message.id] = viewed_message
    return tuple(chosen.values())


def _place(
    options: ExplainOptions,
    all_viewed: Sequence[ViewedMessage],
    compacted: Container[MessageId],
    loaded: TranscriptFile,
    history: OperationHistory,
) -> int:
    """Return the index of the message meant: by its id, its line, else the beginning of its id.

    ``compacted`` are the ids that it means as a reference in a summary.
    """
    name = options.message
    ids = [viewed.message.id for viewed in all_viewed]
    messages = loaded.transcript.messages
    in_file = {messages[index].id for index in messages_named(messages, name)}
    may_be_id = len(name) >= _MIN_ID_LENGTH
    candidates = (
        [i for i, message_id in enumerate(ids) if message_id == name],
        [i for i, message_id in enumerate(ids) if message_id in compacted],
        [i for i, message_id in enumerate(ids) if message_id in in_file],
        [i for i, message_id in enumerate(ids) if may_be_id and message_id.startswith(name)],
    )
    indices = next(filter(None, candidates), [])
    if len(indices) == 1:
        return indices[0]
    if indices:
        listed = ", ".join(ids[i] for i in indices[:_LISTED])
        more = ", …" if len(indices) > _LISTED else ""
        raise UsageError(
            f"{options.input.path}: {name!r} means {len(indices)} messages; use an id: "
            f"{listed}{more}"
        )
    require_archive(loaded, history, options.input.path)
    raise UsageError(
        f"{options.input.path}: no message {name!r}; write a line (158), a reference (L158) or an "
        "id; compactctl view --all --json lists them"
    )


def _compacted(name: str, originals: Mapping[MessageId, Sequence[Message]]) -> frozenset[MessageId]:
    """Return the ids of what a reference in a summary means, by the first places of messages."""
    reference = parse_reference(name)
    messages = (message for behind in originals.values() for message in behind)
    return frozenset(m.id for m in messages if reference is not None and reference.names(m))


def _as_viewed(
    entry: TimelineMessage | None, viewed: ViewedMessage, meter: Meter
) -> TimelineMessage:
    """Return the message as it is viewed; one that is only in the archive is in no request."""
    message = viewed.message
    if entry is None:
        named = [*(part.tool for part in message.results), *(part.tool for part in message.calls)]
        return TimelineMessage(
            message=message,
            tokens=meter.message(message),
            category="other",
            tools=tuple(dict.fromkeys(filter(None, named))),
            first_round=None,
            is_sent=False,
        )
    is_sent = entry.is_sent and viewed.hidden is None
    tokens = entry.tokens if is_sent else meter.message(message)
    return replace(entry, message=message, tokens=tokens, is_sent=is_sent)


def _sent_since(timeline: Timeline, entry: TimelineMessage | None) -> SentSince | None:
    """Return since when a message is sent; None for a stand-in, which took the place of others."""
    if entry is None or entry.first_round is None or entry.message.origin.is_synthetic:
        return None
    if _group_of(entry.message.tags) is not None:
        return None
    return SentSince(
        first=entry.first_round,
        requests=len(timeline.rounds.rounds),
        is_reported=timeline.is_reported,
    )


def _group_of(tags: Tags) -> str | None:
    """Return the group of a summary, a marker or a rewritten message."""
    return tags.condense_id or tags.truncation_id or tags.edit_id


def _fate(
    message_id: MessageId,
    loaded: TranscriptFile,
    history: OperationHistory,
    measured: Measurement,
    recipe: Recipe,
) -> MessageFate | None:
    """Return the fate of a message in a compaction."""
    plan = make_plan(recipe, measured.limits, measured.model)
    inputs = StageInputs(originals=originals_of(loaded, history))
    applied = run_stages(SizedTranscript.of(loaded.transcript, measured), plan, inputs).applied
    rows = message_fates(applied, measured.meter)
    return next((row for row in rows if row.id == message_id and row.fate != "written"), None)


def _links_of(
    explained: int,
    all_viewed: Sequence[ViewedMessage],
    lines: Mapping[MessageId, int],
    cwd: str | None,
) -> tuple[MessageLink, ...]:
    """Return everything related to a message of ``all_viewed``, each once.

    ``lines`` are the lines, from 1, of the messages in the file.
    """
    messages = [viewed.message for viewed in all_viewed]

    def link(kind: LinkKind, index: int, what: str, *, covers: bool = False) -> MessageLink:
        message = messages[index]
        return MessageLink(
            kind=kind,
            id=message.id,
            line=lines.get(message.id),
            role=message.role,
            what=what,
            covers=covers,
        )

    links = (
        *_pairs(explained, messages, link),
        *_files(explained, messages, cwd, link),
        *_groups(explained, all_viewed, link),
    )
    return tuple(dict.fromkeys(links))


def _pairs(explained: int, messages: Sequence[Message], link: _Link) -> Iterator[MessageLink]:
    for result, call in tool_pairs(messages).items():
        named = messages[call.message].parts[call.part]
        tool: str = getattr(named, "tool", "")
        if result.message == explained != call.message:
            yield link("call", call.message, tool)
        if call.message == explained != result.message:
            yield link("result", result.message, tool)


def _files(
    explained: int, messages: Sequence[Message], cwd: str | None, link: _Link
) -> Iterator[MessageLink]:
    """Yield the later reads and edits of the files that a message, or its results, show."""
    pairs = tool_pairs(messages)
    shown_in = {
        explained,
        *(result.message for result, call in pairs.items() if call.message == explained),
    }
    reads = find_file_reads(messages, cwd=cwd)
    covered = find_superseded(reads)
    for path, path_reads in group_by_path(reads).items():
        shown_reads = [read for read in path_reads if read.part_index.message in shown_in]
        if not shown_reads:
            continue
        newest = {
            covered[read.part_index].part_index
            for read in shown_reads
            if read.part_index in covered
        }
        for read in path_reads:
            if read.part_index > shown_reads[-1].part_index:
                yield link(
                    "reads again", read.part_index.message, path, covers=read.part_index in newest
                )
        for edit in find_file_edits(messages, cwd=cwd):
            if edit.path == path and edit.part_index > shown_reads[-1].part_index:
                yield link("edits", edit.part_index.message, path)


def _groups(
    explained: int, all_viewed: Sequence[ViewedMessage], link: _Link
) -> Iterator[MessageLink]:
    group_of_message, hidden = (
        _group_of(all_viewed[explained].message.tags),
        all_viewed[explained].hidden,
    )
    for index, viewed in enumerate(all_viewed):
        if index == explained:
            continue
        group = _group_of(viewed.message.tags)
        if hidden is not None and group == hidden.group:
            yield link("stands for it", index, hidden.group)
        if (
            group_of_message is not None
            and viewed.hidden is not None
            and viewed.hidden.group == group_of_message
        ):
            yield link("hidden by it", index, group_of_message)


def _restore_command(
    viewed: ViewedMessage, loaded: TranscriptFile, history: OperationHistory
) -> RestoreCommand | None:
    """Return how to restore a message, or the messages it replaces."""
    group = viewed.hidden.group if viewed.hidden else _group_of(viewed.message.tags)
    if group is None:
        return None
    return next(_by_client(group, loaded), None) or _by_compactctl(group, history)


def _by_client(group: str, loaded: TranscriptFile) -> Iterator[RestoreCommand]:
    compactions = compactions_of(current_state(loaded))
    newest = next(
        (compaction for compaction in reversed(compactions) if compaction.in_effect), None
    )
    for compaction in compactions:
        if compaction.id == group or group in compaction.groups:
            if compaction.groups:
                yield RestoreCommand(way="group", group=compaction.id)
            yield RestoreCommand(
                way="client" if compaction is newest else "client, all", group=group
            )


def _by_compactctl(group: str, history: OperationHistory) -> RestoreCommand:
    is_appended = any(step.operation.appended for step in history.archived_chain)
    return RestoreCommand(way="operation" if is_appended else "group", group=group)
