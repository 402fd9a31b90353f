"""The messages behind summaries of earlier runs, so that no summary is summarised again."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping

from compactctl.commands.reading import Loaded, parse
from compactctl.model.message import Message, MessageId
from compactctl.pipeline.apply import fold
from compactctl.pipeline.edit_text import edits_from_rows
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
    hidden: dict[str, list[Message]] = defaultdict(list)
    for message, parent in _hidden_messages(loaded):
        hidden[parent].append(message)
    found = {m.id: tuple(_expanded(m.tags.condense_id or "", hidden)) for m in summaries}
    return {name: messages for name, messages in found.items() if messages}


def _expanded(group: str, hidden: Mapping[str, list[Message]]) -> Iterator[Message]:
    for message in hidden.get(group, ()):
        inner = message.tags.condense_id
        if inner and inner != group and inner in hidden:
            yield from _expanded(inner, hidden)
        else:
            yield message


def _hidden_messages(loaded: Loaded) -> Iterator[tuple[Message, str]]:
    for message in loaded.transcript.messages:
        if message.tags.condense_parent:
            yield message, message.tags.condense_parent
    path = loaded.source.path
    if path is not None:
        yield from _archived(Archive(archive_folder(path)), loaded)


def _archived(archive: Archive, loaded: Loaded) -> Iterator[tuple[Message, str]]:
    for operation in chain_of(archive, loaded.source.data):
        rows = tuple(archived_lines(archive.file_of(operation.id)))
        edits = edits_from_rows(edit for row in rows if row.edits for edit in json.loads(row.edits))
        hidden = fold(edits).hidden
        for message in parse(tuple(row.raw for row in rows), loaded.format).messages:
            hide = hidden.get(message.id)
            parent = message.tags.condense_parent
            if hide is not None and hide.kind == "condense":
                yield message, hide.group
            elif hide is None and parent:
                yield message, parent
