"""Follows messages through operations: an id that is made from content changes with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from compactctl.model.edit import Edit, Hide, Insert, Replace, Unload
from compactctl.model.message import Message, MessageId, Synthetic
from compactctl.pipeline.apply import apply_all

Names = Mapping[MessageId, MessageId]


def names_after(
    before: Sequence[Message], edits: Sequence[Edit], after: Sequence[Message]
) -> Names:
    """Map ids before an operation, and those of what it wrote, to the ids when read back.

    ``before`` and ``after`` are effective histories, ``edits`` lead from one to the other.
    """
    expected = apply_all(before, edits)
    return {old.id: new.id for old, new in zip(expected, after, strict=False)}


def with_names(edits: Sequence[Edit], names: Names) -> tuple[Edit, ...]:
    """Return edits under new names; what they do to messages without a name is left out.

    A summary or marker that stood before such a message comes before the first one it hides; the
    other half of a tool pair has no place without it.
    """
    written = {edit.message.id: edit.message.id for edit in edits if isinstance(edit, Insert)}
    known = {**names, **written}
    hidden = {e.group: _hidden(e, known) for e in edits if isinstance(e, Hide)}
    found: list[Edit] = []
    for edit in edits:
        match edit:
            case Hide() if hidden[edit.group]:
                found.append(replace(edit, ids=hidden[edit.group]))
            case Replace() if edit.id in known:
                found.append(_replace(edit, known))
            case Unload():
                found.append(replace(edit, id=known.get(edit.id, edit.id)))
            case Insert() if edit.message.kind in ("call", "result"):
                if edit.before in known:
                    found.append(Insert(before=known[edit.before], message=_item(edit, known)))
            case Insert() if hidden.get(edit.message.group):
                before = known.get(edit.before, hidden[edit.message.group][0])
                found.append(Insert(before=before, message=_item(edit, known)))
    return tuple(found)


def _hidden(edit: Hide, names: Names) -> tuple[MessageId, ...]:
    return tuple(names[name] for name in edit.ids if name in names)


def _item(edit: Insert, names: Names) -> Synthetic:
    item = edit.message
    through = names.get(item.through, item.through) if item.through else None
    return replace(item, through=through)


def _replace(edit: Replace, names: Names) -> Replace:
    target = names.get(edit.refers_to) if edit.refers_to else None
    return replace(edit, id=names[edit.id], refers_to=target)
