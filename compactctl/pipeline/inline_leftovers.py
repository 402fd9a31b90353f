"""Originals of an earlier inline layout that would be shown again once their stand-in goes."""

from collections.abc import Iterator
from dataclasses import replace

from compactctl.model.edit import Hide, HideKind
from compactctl.model.message import GroupId, Message
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import Folded


def hiding_exposed(transcript: Transcript, folded: Folded, *, tags: bool) -> Folded:
    """Return the edits for a layout without originals: those left behind are hidden as well.

    A tag hides an original only as long as a record with the id is there. ``tags`` tells whether
    rewritten records get a new id.
    """
    shown = {message.id for message in transcript.effective}
    tagged = [m for m in transcript.messages if m.tags.parents and m.id not in shown]
    hidden = dict(folded.hidden)
    while True:
        present = set(_ids_left(transcript, replace(folded, hidden=hidden), tags=tags))
        found = [m for m in tagged if m.id not in hidden and present.isdisjoint(m.tags.parents)]
        if not found:
            return replace(folded, hidden=hidden)
        hidden |= {message.id: _hide(message) for message in found}


def _ids_left(transcript: Transcript, folded: Folded, *, tags: bool) -> Iterator[str]:
    for message in transcript.messages:
        if message.id not in folded.hidden:
            renamed = tags and message.id in folded.replaced
            yield from (n for n in message.tags.ids if not (renamed and n == message.tags.edit_id))


def _hide(message: Message) -> Hide:
    kind: HideKind = "truncate" if message.tags.truncation_parent else "condense"
    return Hide(ids=(message.id,), group=GroupId(message.tags.parents[0]), kind=kind)
