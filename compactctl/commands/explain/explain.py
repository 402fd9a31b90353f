"""Explains one message of a transcript."""

from collections.abc import Iterator, Mapping, Sequence

from compactctl.commands.by_client.compactions import compactions_of
from compactctl.commands.by_client.states import present
from compactctl.commands.explain.links import group_of, links_of
from compactctl.commands.explain.result import ExplainOptions, ExplainResult, Sending, WayBack
from compactctl.commands.inspect.life import Timeline, TimelineMessage, timeline_of
from compactctl.commands.inspect.view import ViewedMessage, everything, require_archive
from compactctl.commands.loading.load import Loaded, load
from compactctl.commands.operations.history import OperationHistory, history_behind
from compactctl.commands.operations.originals import originals_of
from compactctl.commands.planning.explain import Explained, explain
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.planning.run_stages import run_all
from compactctl.commands.sizing.context_size import unseen_size
from compactctl.commands.sizing.measure import Measure, measure
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.model.message import Message, MessageId

# More ids than this are not listed in an error.
_LISTED = 5
# Less than this of an id is none: a number would be the beginning of some, too.
_LEAST_OF_ID = 4


def explain_message(options: ExplainOptions) -> ExplainResult:
    """Explain a message; nothing is written.

    Raises as ``view`` does, and UsageError where no message, or more than one, is meant.
    """
    loaded = load(options.input)
    history = history_behind(loaded, options.archive)
    known = _once(everything(loaded, history))
    lines = {message.id: message.line + 1 for message in loaded.transcript.messages}
    at = _place(options, known, lines, loaded, history)
    viewed, transcript = known[at], loaded.transcript
    measured = measure(transcript, options.measure)
    measured.meter.prime(transcript.messages)
    size = unseen_size(transcript, measured)
    timeline = timeline_of(transcript, measured.meter, size)
    lived = {each.message.id: each for each in timeline.messages}.get(viewed.message.id)
    recipe = Recipe(measure=options.measure)
    is_sent = lived is not None and lived.is_sent and viewed.hidden_by is None
    return ExplainResult(
        path=options.input.path,
        format=loaded.format.name,
        measure=measured.forgetting(),
        message=viewed.message,
        line=lines.get(viewed.message.id),
        tools=_tools(lived, viewed.message),
        tokens=lived.tokens if lived and is_sent else measured.meter.message(viewed.message),
        category=lived.category if lived else None,
        is_sent=is_sent,
        sending=_sending(timeline, lived),
        profile=recipe.profile,
        fate=_fate(viewed.message.id, loaded, history, measured, recipe) if is_sent else None,
        hidden_by=viewed.hidden_by,
        hider=viewed.stage,
        links=links_of(at, known, lines, transcript.cwd),
        way_back=_way_back(viewed, loaded, history),
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
        if each.hidden_by is None or each.message.id not in chosen:
            chosen[each.message.id] = each
    return tuple(chosen.values())


def _place(
    options: ExplainOptions,
    known: Sequence[ViewedMessage],
    lines: Mapping[MessageId, int],
    loaded: Loaded,
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


def _tools(lived: TimelineMessage | None, message: Message) -> tuple[str, ...]:
    if lived is not None:
        return lived.tools
    named = [*(part.tool for part in message.results), *(part.tool for part in message.calls)]
    return tuple(dict.fromkeys(filter(None, named)))


def _sending(timeline: Timeline, lived: TimelineMessage | None) -> Sending | None:
    """Tell since when a message is sent; what was written in the place of others hides that."""
    if lived is None or lived.first_round is None or lived.message.synthetic:
        return None
    if group_of(lived.message.tags) is not None:
        return None
    return Sending(
        first=lived.first_round,
        requests=len(timeline.rounds.rounds),
        is_reported=timeline.is_reported,
    )


def _fate(
    name: MessageId,
    loaded: Loaded,
    history: OperationHistory,
    measured: Measure,
    recipe: Recipe,
) -> Explained | None:
    """Return what a compaction would make of a message."""
    plan = make_plan(recipe, measured.limits)
    originals = originals_of(loaded, history)
    outcome = run_all(loaded.transcript, plan, measured, ProtectOptions(), originals)
    rows = explain(outcome, measured.meter)
    return next((row for row in rows if row.id == name and row.fate != "written"), None)


def _way_back(viewed: ViewedMessage, loaded: Loaded, history: OperationHistory) -> WayBack | None:
    """Return the way back to a message, or to what it stands for."""
    group = viewed.hidden_by or group_of(viewed.message.tags)
    if group is None:
        return None
    return next(_by_client(group, loaded), None) or _by_compactctl(group, history)


def _by_client(group: str, loaded: Loaded) -> Iterator[WayBack]:
    found = compactions_of(present(loaded))
    newest = next((each for each in reversed(found) if each.in_effect), None)
    for each in found:
        if each.id == group or group in each.groups:
            if each.groups:
                yield WayBack(way="group", group=each.id)
            yield WayBack(way="client" if each is newest else "client, all", group=group)


def _by_compactctl(group: str, history: OperationHistory) -> WayBack:
    is_appended = any(step.operation.appended for step in history.archived_chain)
    return WayBack(way="operation" if is_appended else "group", group=group)
