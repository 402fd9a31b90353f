"""Edits, one call each."""

from typing import Any

from compactctl.model.edit import Hide, Insert, Replace
from compactctl.model.message import GroupId, MessageId, Synthetic


def hide(*ids: str, group: str = "g") -> Hide:
    return Hide(ids=tuple(map(MessageId, ids)), group=GroupId(group), kind="truncate")


def rewrite(name: str, text: str, part: int = 0, group: str = "g") -> Replace:
    return Replace(id=MessageId(name), part=part, text=text, group=GroupId(group))


def marker(name: str, group: str = "g", **fields: Any) -> Synthetic:
    return Synthetic(
        id=MessageId(name), kind="marker", role="user", text=name, group=GroupId(group), **fields
    )


def insert(before: str, name: str, group: str = "g") -> Insert:
    return Insert(before=MessageId(before), message=marker(name, group))
