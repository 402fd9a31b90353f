"""The messages behind summaries of earlier runs, so that no summary is summarised again."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from compactctl.commands.reading import Loaded, parse
from compactctl.formats.format import Format
from compactctl.model.message import Message, MessageId
from compactctl.pipeline.apply import fold
from compactctl.pipeline.edit_text import edits_from_rows, load_edits
from compactctl.store.archive import archived_lines
from compactctl.store.chain import chain_of
from compactctl.store.history import Archive, archive_folder


def originals_of(loaded: Loaded) -> Mapping[MessageId, tuple[Message, ...]]:
    """Return, by the id of each summary with a tag, the messages it stands for.

    They are in the file itself (inline) or in its archive; a summary without either is left out.
    Summaries among them are in turn what they stand for.
    """
    summaries = [m for m in loaded.transcript.effective if m.tags.condense_id]
    if not summaries:
        return {}
    hidden = _hidden(loaded)
    found = {m.id: tuple(_expanded(m.tags.condense_id or "", hidden, ())) for m in summaries}
    return {name: messages for name, messages in found.items() if messages}


_Hidden = dict[str, list[Message]]


def _expanded(group: str, hidden: _Hidden, outer: tuple[str, ...]) -> Iterator[Message]:
    for message in hidden.get(group, ()):
        inner = message.tags.condense_id
        if inner and inner not in (*outer, group) and inner in hidden:
            yield from _expanded(inner, hidden, (*outer, group))
        else:
            yield message


def _hidden(loaded: Loaded) -> _Hidden:
    """Return the messages of each group, from the first place that has any of them."""
    found = _tagged(loaded.transcript.messages)
    path = loaded.source.path
    if path is not None:
        archive = Archive(archive_folder(path))
        for operation in chain_of(archive, loaded.source.data):
            found = _archived(archive.file_of(operation.id), loaded.format) | found
    return found


def _tagged(messages: Iterable[Message]) -> _Hidden:
    found: _Hidden = {}
    for message in messages:
        if message.tags.condense_parent:
            found.setdefault(message.tags.condense_parent, []).append(message)
    return found


def _archived(file: Path, chosen: Format) -> _Hidden:
    rows = tuple(archived_lines(file))
    edits = edits_from_rows(load_edits(row.edits for row in rows))
    hides = {name: e for name, e in fold(edits).hidden.items() if e.kind == "condense"}
    messages = parse(tuple(row.raw for row in rows), chosen).messages
    found = _tagged(messages)
    for message in messages:
        if message.id in hides:
            found.setdefault(hides[message.id].group, []).append(message)
    return found
