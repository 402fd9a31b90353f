"""The messages behind summaries of earlier runs, so that no summary is summarised again."""

from collections.abc import Iterable, Iterator, Mapping

from compactctl.commands.loading.load import Loaded, parse
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import Archived
from compactctl.formats.format import Format
from compactctl.model.message import Message, MessageId
from compactctl.pipeline.apply import fold
from compactctl.pipeline.edit_codec import edits_from_rows, load_edits


def originals_of(
    loaded: Loaded, history: OperationHistory
) -> Mapping[MessageId, tuple[Message, ...]]:
    """Return, by the id of each summary with a tag, the messages it stands for.

    They are in the file itself (inline) or in its archive; a summary without either is left out.
    Summaries among them are in turn what they stand for.
    """
    summaries = [m for m in loaded.transcript.effective if m.tags.condense_id]
    if not summaries:
        return {}
    hidden = _hidden(loaded, history)
    groups = {m.tags.condense_id or "" for m in summaries}
    expanded = {group: tuple(_expanded(group, hidden)) for group in groups}
    found = {m.id: expanded[m.tags.condense_id or ""] for m in summaries}
    return {name: messages for name, messages in found.items() if messages}


_Hidden = dict[str, list[Message]]


def _expanded(group: str, hidden: _Hidden) -> Iterator[Message]:
    """Yield what a group hides, each summary among it as what that one hides; no group twice."""
    expanded = {group}
    waiting = list(reversed(hidden.get(group, ())))
    while waiting:
        message = waiting.pop()
        inner = message.tags.condense_id
        if inner and inner not in expanded and inner in hidden:
            expanded.add(inner)
            waiting += reversed(hidden[inner])
        else:
            yield message


def _hidden(loaded: Loaded, history: OperationHistory) -> _Hidden:
    """Return the messages of each group, from the first place that has any of them."""
    found = _tagged(loaded.transcript.messages)
    for step in history.chain:
        # What a step inside the transcript hides is tagged there, or in the next archived state.
        if isinstance(step, Archived):
            found = _archived(step, loaded.format) | found
    return found


def _tagged(messages: Iterable[Message]) -> _Hidden:
    found: _Hidden = {}
    for message in messages:
        if message.tags.condense_parent:
            found.setdefault(message.tags.condense_parent, []).append(message)
    return found


def _archived(step: Archived, chosen: Format) -> _Hidden:
    rows = tuple(step.rows())
    edits = edits_from_rows(load_edits((row.edits for row in rows), step.file.path))
    hides = {name: e for name, e in fold(edits).hidden.items() if e.kind == "condense"}
    messages = parse((row.raw for row in rows), chosen).messages
    found = _tagged(messages)
    for message in messages:
        if message.id in hides:
            found.setdefault(hides[message.id].group, []).append(message)
    return found
