"""Edits as JSON text for the archive, so that one group can be taken back later."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from compactctl.errors import ArchiveError
from compactctl.model.edit import Edit, Hide, HideKind, Insert, RemoveUnsent, Replace, groups_of
from compactctl.model.message import GroupId, MessageId, Synthetic
from compactctl.model.validators import (
    Validator,
    dict_of,
    field_validators,
    json_object,
    list_of,
    non_negative_int,
    object_of,
    one_of,
    scalar,
    string,
)

MESSAGE_EDITS = 100_000
"""Far more edits than any message has: one for each of its parts and stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedEdits:
    """The edits of an archived operation, in order.

    ``groups`` names the stage behind each group of them; ``sizes`` are the messages that each
    group hides or rewrites, with their sizes in tokens; none for one that changes no message.
    """

    edits: tuple[Edit, ...]
    groups: Mapping[str, str]
    sizes: Mapping[str, Mapping[MessageId, int]]


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
        for name, fields in _anchored_rows(edit):
            row = head | {"tokens": tokens.get(name, 0)} | fields
            rows[places.get(name, name)].append(row)
    return dict(rows)


def _anchored_rows(edit: Edit) -> list[tuple[MessageId, dict[str, Any]]]:
    match edit:
        case Hide():
            shared = {"group": edit.group, "kind": edit.kind, "reason": edit.reason}
            return [(name, {"edit": "hide", "id": name, **shared}) for name in edit.ids]
        case Replace():
            return [(edit.id, {"edit": "replace", **_fields(edit)})]
        case Insert():
            message = _fields(edit.message)
            return [(edit.before, {"edit": "insert", "before": edit.before, "message": message})]
        case RemoveUnsent():
            return [(edit.id, {"edit": "unload", **_fields(edit)})]


def read_edits(texts: Iterable[str | None], where: object = "archive") -> ArchivedEdits:
    """Return the edits in an archive's rows; None is the text of a row without any.

    ``where`` is what an error names. Raises ArchiveError for what ``edits_by_message`` and
    ``dump_edits`` would not have made.
    """
    rows = _checked_rows(texts, where)
    by_place: dict[int, list[dict[str, Any]]] = defaultdict(list)
    sizes: dict[str, dict[MessageId, int]] = defaultdict(dict)
    for row in rows:
        by_place[row["n"]].append(row)
        if row["edit"] in ("hide", "replace"):
            sizes[row["group"]][MessageId(row["id"])] = row["tokens"]
        elif row["edit"] == "unload":
            sizes[row["group"]] = {}
    return ArchivedEdits(
        edits=tuple(_edit(by_place[n]) for n in sorted(by_place)),
        groups={row.get("message", row)["group"]: row["stage"] for row in rows},
        sizes=dict(sizes),
    )


def _edit(rows: list[dict[str, Any]]) -> Edit:
    first = rows[0]
    if first["edit"] == "hide":
        ids = tuple(MessageId(row["id"]) for row in rows)
        return Hide(
            ids=ids, group=GroupId(first["group"]), kind=first["kind"], reason=first["reason"]
        )
    if first["edit"] == "insert":
        return Insert(before=MessageId(first["before"]), message=Synthetic(**first["message"]))
    if first["edit"] == "unload":
        return RemoveUnsent(**{name: first[name] for name in RemoveUnsent.__slots__})
    return Replace(**{name: first[name] for name in Replace.__slots__})


def _fields(value: Replace | Synthetic | RemoveUnsent) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def canonical_text(edits: Iterable[Edit]) -> str:
    """Return all that edits say, as text to derive an id from."""
    # One after another: all of them as objects take more memory than the text.
    rows = (dump_edits([row])[1:-1] for edit in edits for _, row in _anchored_rows(edit))
    return f"[{','.join(rows)}]"


def _checked_rows(texts: Iterable[str | None], where: object) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    try:
        for each in texts:
            if each:
                rows += _ROWS(json.loads(each))
        _check_places(rows)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ArchiveError(
            f"{where}: its edits cannot be understood ({why}); restore it from a backup"
        ) from error
    return rows


def dump_edits(rows: Sequence[dict[str, Any]]) -> str:
    """Return one message's edit objects as JSON text."""
    return json.dumps(rows, separators=(",", ":"))


def _row(value: object) -> dict[str, Any]:
    kind = one_of(*_FIELDS)(json_object(value).get("edit"))
    fields: dict[str, Any] = _ROW[kind](value)
    if missing := _FIELDS[kind].keys() - fields.keys():
        raise ValueError(f"{min(missing)} is missing")
    return fields


def _check_places(rows: Iterable[dict[str, Any]]) -> None:
    """Refuse two edits at one place in the sequence: only the rows of a ``Hide`` share theirs."""
    seen: dict[int, tuple[str, str, str] | None] = {}
    for row in rows:
        edit = (row["group"], row["kind"], row["reason"]) if row["edit"] == "hide" else None
        if row["n"] in seen and (edit is None or edit != seen[row["n"]]):
            raise ValueError(f"two edits are number {row['n']}")
        seen[row["n"]] = edit


def _synthetic(value: object) -> dict[str, Any]:
    # Checked as a whole, and kept as JSON for what else asks for it.
    _SYNTHETIC(value)
    return json_object(value)


_SYNTHETIC = object_of(Synthetic, field_validators(Synthetic, details=dict_of(scalar)))
_COMMON: Mapping[str, Validator] = {
    "n": non_negative_int,
    "stage": string,
    "tokens": non_negative_int,
    "edit": string,
}
_FIELDS: Mapping[str, Mapping[str, Validator]] = {
    "hide": {
        **_COMMON,
        "id": string,
        "group": string,
        "kind": one_of(*get_args(HideKind)),
        "reason": string,
    },
    "replace": {**_COMMON, **field_validators(Replace)},
    "insert": {**_COMMON, "before": string, "message": _synthetic},
    "unload": {**_COMMON, **field_validators(RemoveUnsent)},
}
_ROW = {kind: object_of(dict, validators) for kind, validators in _FIELDS.items()}
_ROWS = list_of(_row, most=MESSAGE_EDITS)
