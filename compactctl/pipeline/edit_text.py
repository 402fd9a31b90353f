"""Edits as JSON text for the archive, so that one group can be taken back later."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.model.edit import Edit, Hide, Insert, Replace, groups_of
from compactctl.model.message import GroupId, MessageId, Synthetic


def edits_by_message(
    edits: Sequence[Edit], stages: Mapping[str, str], tokens: Mapping[MessageId, int]
) -> dict[MessageId, list[dict[str, Any]]]:
    """Return each edit as JSON objects under the message it is anchored at.

    An edit of a written message is anchored where that one stands. ``n`` is the edit's place in
    the sequence; a ``Hide`` gives one object per message. ``stages`` names the stage behind each
    group, ``tokens`` the size that each message had.
    """
    rows: dict[MessageId, list[dict[str, Any]]] = defaultdict(list)
    places: dict[MessageId, MessageId] = {}
    for n, edit in enumerate(edits):
        if isinstance(edit, Insert):
            places[edit.message.id] = places.get(edit.before, edit.before)
        head = {"n": n, "stage": stages.get(groups_of([edit])[0], "")}
        for name, fields in _anchored(edit):
            row = head | {"tokens": tokens.get(name, 0)} | fields
            rows[places.get(name, name)].append(row)
    return dict(rows)


def _anchored(edit: Edit) -> list[tuple[MessageId, dict[str, Any]]]:
    match edit:
        case Hide():
            shared = {"group": edit.group, "kind": edit.kind, "reason": edit.reason}
            return [(name, {"edit": "hide", "id": name, **shared}) for name in edit.ids]
        case Replace():
            return [(edit.id, {"edit": "replace", **_fields(edit)})]
        case Insert():
            message = _fields(edit.message)
            return [(edit.before, {"edit": "insert", "before": edit.before, "message": message})]


def sizes_from_rows(rows: Iterable[dict[str, Any]]) -> dict[str, dict[MessageId, int]]:
    """Return the messages that each group hides or rewrites, with their sizes in tokens."""
    sizes: dict[str, dict[MessageId, int]] = defaultdict(dict)
    for row in rows:
        if row["edit"] != "insert":
            sizes[row["group"]][MessageId(row["id"])] = row["tokens"]
    return dict(sizes)


def stages_from_rows(rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the stage behind each group that the edit objects name."""
    return {row.get("group") or row["message"]["group"]: row["stage"] for row in rows}


def edits_from_rows(rows: Iterable[dict[str, Any]]) -> tuple[Edit, ...]:
    """Return the sequence of edits that ``edits_by_message`` was given."""
    by_place: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_place[row["n"]].append(row)
    return tuple(_edit(by_place[n]) for n in sorted(by_place))


def _edit(rows: list[dict[str, Any]]) -> Edit:
    first = rows[0]
    if first["edit"] == "hide":
        ids = tuple(MessageId(row["id"]) for row in rows)
        return Hide(
            ids=ids, group=GroupId(first["group"]), kind=first["kind"], reason=first["reason"]
        )
    if first["edit"] == "insert":
        return Insert(before=MessageId(first["before"]), message=Synthetic(**first["message"]))
    return Replace(**{name: first[name] for name in Replace.__slots__})


def _fields(value: Replace | Synthetic) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def load_edits(texts: Iterable[str | None]) -> list[dict[str, Any]]:
    """Return the edit objects of an archive's rows; None is the text of a row without any."""
    return [edit for text in texts if text for edit in json.loads(text)]


def dump_edits(rows: Sequence[dict[str, Any]]) -> str:
    """Return one message's edit objects as JSON text."""
    return json.dumps(rows, separators=(",", ":"))
