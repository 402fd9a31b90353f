"""Explains one message of a transcript."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from compactctl.commands.client_sessions.compactions import compactions_of
from compactctl.commands.client_sessions.places import current_state
from compactctl.commands.inspect.view import ViewedMessage, all_messages, require_archive
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.measuring.timeline import Timeline, TimelineMessage, timeline_of
from compactctl.commands.operations.history import OperationHistory, history_behind
from compactctl.commands.operations.states import HiddenBy, originals_of
from compactctl.commands.planning.fates import MessageFate, message_fates
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.planning.run_stages import StageInputs, run_stages
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
from compactctl.model.message import Message, MessageId, Tags
from compactctl.profiles.profile import Profile
from compactctl.tokens.meter import Meter

# In the order in which they are told.
LinkKind = Literal["call", "result", "reads again", "edits", "stands for it", "hidden by it"]
Way = Literal["group", "operation", "client", "client, all"]
# More ids than this are not listed in an error.
_LISTED = 5
# Less than this of an id is none: a number would be the beginning of some, too.
_LEAST_OF_ID = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """Which message: ``message`` is an id, the beginning of one, or a line from 1.

    ``archive`` is that of the transcript where it is not in its place.
    """

    input: InputOptions
    message: str
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    archive: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLink:
    """Another message, and what ties it to the one that is explained.

    Attributes:
        line: where it stands, from 1; None where it stands in the archive only.
        what: the tool of a call or result, the file that is read or edited, else the group.
        covers: of a message that reads a file again, whether it shows all that was shown before.
    """

    kind: LinkKind
    id: MessageId
    line: int | None
    role: str
    what: str
    covers: bool = False


_Link = Callable[..., MessageLink]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentSince:
    """Since when a message is sent: ``first`` of ``requests``, counted from 1.

    ``is_reported`` tells whether the provider reported the requests, or they were counted.
    """

    first: int
    requests: int
    is_reported: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreCommand:
    """How to get back what is hidden: by its group, or by undoing what hid it."""

    way: Way
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainResult:
    """All there is to say about one message.

    Attributes:
        entry: the message, its size, and whether the next request sends it.
        line: where it stands, from 1; None where it stands in the archive only.
        hidden: what hides it: a group or the client's compaction, and the stage or the client.
        sent_since: since when requests send it, None where none did or nothing tells.
        fate: what the profile would make of it, None of what is not sent.
        restore: how to get back what is hidden, it or what it stands for; None where nothing is.
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
    restore: RestoreCommand | None
    warnings: tuple[str, ...]

    @property
    def category(self) -> Category | None:
        """Where most of the message belongs; nothing tells of what stands in the archive only."""
        return None if self.line is None else self.entry.category

    @property
    def profile(self) -> Profile:
        """The profile that tells the fate."""
        return Recipe(measure=self.options.measure).profile


def explain_message(options: ExplainOptions) -> ExplainResult:
    """Explain a message; nothing is written.

    Raises as ``view`` does, and UsageError where no message, or more than one, is meant.
    """
    loaded = load(options.input)
    history = history_behind(loaded, options.archive)
    known = _once(all_messages(loaded, history))
    lines = {message.id: message.line + 1 for message in loaded.transcript.messages}
    at = _place(options, known, lines, loaded, history)
    viewed, transcript = known[at], loaded.transcript
    measured = measure(transcript, options.measure)
    measured.meter.prime(transcript.messages)
    size = context_size(transcript, measured)
    timeline = timeline_of(transcript, measured.meter, size)
    found = {entry.message.id: entry for entry in timeline.messages}.get(viewed.message.id)
    entry = _as_viewed(found, viewed, measured.meter)
    recipe = Recipe(measure=options.measure)
    return ExplainResult(
        options=options,
        format=loaded.format.name,
        measure=measured.without_cached_texts(),
        entry=entry,
        line=lines.get(viewed.message.id),
        hidden=viewed.hidden,
        sent_since=_sent_since(timeline, found),
        fate=_fate(viewed.message.id, loaded, history, measured, recipe) if entry.is_sent else None,
        links=_links_of(at, known, lines, transcript.session.cwd),
        restore=_restore_command(viewed, loaded, history),
        warnings=(
            *transcript.warnings,
            *((size.doubt,) if size.doubt else ()),
            *history.warnings,
        ),
    )


def _once(viewed: Sequence[ViewedMessage]) -> tuple[ViewedMessage, ...]:
    """Return every message once, in place: as it is sent where it is, else as it was last."""
    chosen: dict[MessageId, ViewedMessage] = {}
    for each in viewed:
        if each.hidden is None or each.message.id not in chosen:
            chosen[each.message.id] = each
    return tuple(chosen.values())


def _place(
    options: ExplainOptions,
    known: Sequence[ViewedMessage],
    lines: Mapping[MessageId, int],
    loaded: TranscriptFile,
    history: OperationHistory,
) -> int:
    """Return the index of the message that is meant: by its id, its line, else how an id begins."""
    name, ids = options.message, [viewed.message.id for viewed in known]
    is_begun = len(name) >= _LEAST_OF_ID
    ways = (
        [at for at, each in enumerate(ids) if each == name],
        [at for at, each in enumerate(ids) if each in lines and str(lines[each]) == name],
        [at for at, each in enumerate(ids) if is_begun and each.startswith(name)],
    )
    found = next(filter(None, ways), [])
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(ids[at] for at in found[:_LISTED])
        more = ", …" if len(found) > _LISTED else ""
        raise UsageError(
            f"{options.input.path}: {name!r} means {len(found)} messages; name one by its id: "
            f"{listed}{more}"
        )
    require_archive(loaded, history, options.input.path)
    raise UsageError(
        f"{options.input.path}: there is no message {name!r}; compactctl view shows lines, "
        "compactctl view --all --json ids"
    )


def _as_viewed(
    entry: TimelineMessage | None, viewed: ViewedMessage, meter: Meter
) -> TimelineMessage:
    """Return the message as it is viewed; what stands in the archive only is in no request."""
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
    """Tell since when a message is sent; what was written in the place of others hides that."""
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
    """Return the group that a summary, a marker or a rewritten message stands for."""
    return tags.condense_id or tags.truncation_id or tags.edit_id


def _fate(
    name: MessageId,
    loaded: TranscriptFile,
    history: OperationHistory,
    measured: Measurement,
    recipe: Recipe,
) -> MessageFate | None:
    """Return what a compaction would make of a message."""
    plan = make_plan(recipe, measured.limits)
    inputs = StageInputs(originals=originals_of(loaded, history))
    applied = run_stages(loaded.transcript, plan, measured, inputs).applied
    rows = message_fates(applied, measured.meter)
    return next((row for row in rows if row.id == name and row.fate != "written"), None)


def _links_of(
    at: int, known: Sequence[ViewedMessage], lines: Mapping[MessageId, int], cwd: str | None
) -> tuple[MessageLink, ...]:
    """Return what is tied to the message at an index of ``known``, each thing once.

    ``lines`` tells where messages stand, from 1, of those that are in the file.
    """
    messages = [viewed.message for viewed in known]

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
        *_pairs(at, messages, link),
        *_files(at, messages, cwd, link),
        *_groups(at, known, link),
    )
    return tuple(dict.fromkeys(links))


def _pairs(at: int, messages: Sequence[Message], link: _Link) -> Iterator[MessageLink]:
    for result, call in tool_pairs(messages).items():
        named = messages[call.message].parts[call.part]
        tool: str = getattr(named, "tool", "")
        if result.message == at != call.message:
            yield link("call", call.message, tool)
        if call.message == at != result.message:
            yield link("result", result.message, tool)


def _files(
    at: int, messages: Sequence[Message], cwd: str | None, link: _Link
) -> Iterator[MessageLink]:
    """Yield the later reads and edits of the files that a message, or its results, show."""
    pairs = tool_pairs(messages)
    own = {at, *(result.message for result, call in pairs.items() if call.message == at)}
    reads = find_file_reads(messages, cwd=cwd)
    covered = find_superseded(reads)
    for path, same in group_by_path(reads).items():
        shown = [read for read in same if read.part_index.message in own]
        if not shown:
            continue
        newest = {
            covered[read.part_index].part_index for read in shown if read.part_index in covered
        }
        for read in same:
            if read.part_index > shown[-1].part_index:
                yield link(
                    "reads again", read.part_index.message, path, covers=read.part_index in newest
                )
        for edit in find_file_edits(messages, cwd=cwd):
            if edit.path == path and edit.part_index > shown[-1].part_index:
                yield link("edits", edit.part_index.message, path)


def _groups(at: int, known: Sequence[ViewedMessage], link: _Link) -> Iterator[MessageLink]:
    own, hidden = _group_of(known[at].message.tags), known[at].hidden
    for index, viewed in enumerate(known):
        if index == at:
            continue
        group = _group_of(viewed.message.tags)
        if hidden is not None and group == hidden.group:
            yield link("stands for it", index, hidden.group)
        if own is not None and viewed.hidden is not None and viewed.hidden.group == own:
            yield link("hidden by it", index, own)


def _restore_command(
    viewed: ViewedMessage, loaded: TranscriptFile, history: OperationHistory
) -> RestoreCommand | None:
    """Return the way back to a message, or to what it stands for."""
    group = viewed.hidden.group if viewed.hidden else _group_of(viewed.message.tags)
    if group is None:
        return None
    return next(_by_client(group, loaded), None) or _by_compactctl(group, history)


def _by_client(group: str, loaded: TranscriptFile) -> Iterator[RestoreCommand]:
    found = compactions_of(current_state(loaded))
    newest = next((each for each in reversed(found) if each.in_effect), None)
    for each in found:
        if each.id == group or group in each.groups:
            if each.groups:
                yield RestoreCommand(way="group", group=each.id)
            yield RestoreCommand(way="client" if each is newest else "client, all", group=group)


def _by_compactctl(group: str, history: OperationHistory) -> RestoreCommand:
    is_appended = any(step.operation.appended for step in history.archived_chain)
    return RestoreCommand(way="operation" if is_appended else "group", group=group)
