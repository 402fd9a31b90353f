"""What Codex does not accept in a rollout: its header, the numbers of its records, their times.

Client 0.171.0 refuses a header behind a byte order mark, a damaged one, and in a paginated thread
(``history_mode``) a last record without a number; it skips records whose timestamp is a number.
Other missing or repeated numbers it accepts, although users report that the history of such a
thread could not be shown (``expected ordinal 10, got 9``). Gaps are accepted everywhere, and so are
the records without a number that compactctl inserts.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from compactctl.clients.records.builder import content_id, uuid_for
from compactctl.clients.records.decode import NOT_UTF8, Decoded
from compactctl.clients.records.json_values import text_or_none, time_text
from compactctl.model.message import NO_TAGS
from compactctl.model.tags import is_appended, read_tags
from compactctl.model.transcript import FieldValue, RefusedRecord
from compactctl.records import replace

_CLIENT = "Codex"
_HEADER = "session_meta"
# Records that add to what is sent, and the header.
_SENT = frozenset({_HEADER, "response_item", "compacted", "inter_agent_communication"})
_EPOCH = "1970-01-01T00:00:00.000Z"
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
# What the client requires of a header beside its id, its time and the folder. Without a provider
# it takes that of the user's settings.
_HEADER_DEFAULTS = {"originator": "codex_cli_rs", "cli_version": "0.0.0", "source": "cli"}


class CodexRefusals:
    """Collects what the client does not accept, in file order."""

    def __init__(self) -> None:
        self._refused: list[RefusedRecord] = []
        # The number of the newest record, as it stands or as it should be.
        self._number: int | None = None
        self._torn: Decoded | None = None
        # The first record behind the header, and its time.
        self._first: Mapping[str, Any] | None = None
        self._time: str | None = None
        # Of the newest record that has a time as text.
        self._newest_time = _EPOCH

    def add_line(self, decoded: Decoded) -> None:
        """Add the record on a line; the client skips lines that are not one record."""
        if decoded.index == 0 and decoded.damage not in (None, NOT_UTF8):
            self._torn = decoded
        if decoded.damage is not None or not decoded.is_plain:
            return
        for record in decoded.values:
            if isinstance(record, Mapping) and isinstance(record.get("payload"), Mapping):
                self._add_record(record, decoded)

    def records(self, cwd: str | None, version: str | None) -> tuple[RefusedRecord, ...]:
        """Return the records that are not accepted; ``cwd`` and ``version`` are the session's."""
        header = self._torn and self._new_header(self._torn, cwd, version)
        if self._torn is None or header is None:
            return tuple(self._refused)
        damaged = _refused(self._torn, "header", "the header of the session is damaged", header)
        return (damaged, *self._refused)

    def _add_record(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        if decoded.has_bom:
            reason = "a byte order mark stands before the header of the session"
            self._refused.append(_refused(decoded, "bom", reason, record))
        if decoded.index:
            self._first = self._first or record
            self._time = self._time or text_or_none(record.get("timestamp"))
        self._check_time(record, decoded)
        self._check_number(record, decoded)

    def _check_time(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        value = record.get("timestamp")
        if isinstance(value, str):
            self._newest_time = value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            reason = "its timestamp is a number, so the client skips it"
            text = time_text(value) or self._newest_time
            fault = _refused(decoded, "field-type", reason, text, "timestamp")
            self._refused.append(replace(fault, is_sent=record.get("type") in _SENT))

    def _check_number(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        """Check that numbers grow; those from the first wrong one on may have to be raised."""
        number = record.get("ordinal")
        next_number = 0 if self._number is None else self._number + 1
        if type(number) is int and number >= next_number:
            self._number = number
            return
        if type(number) is not int and (self._number is None or _is_inserted(record)):
            return
        reason = "its ordinal is missing"
        if type(number) is int:
            before = "nothing" if self._number is None else str(self._number)
            reason = f"its ordinal {number} follows {before}"
        self._number = next_number
        self._refused.append(_refused(decoded, "ordinal", reason, next_number, "ordinal"))

    def _new_header(
        self, torn: Decoded, cwd: str | None, version: str | None
    ) -> Mapping[str, Any] | None:
        """Return the header that a damaged line held; None if it held other records as well.

        Its fields are taken from what is whole of the line, else from the session. An id that is
        not whole is derived, since the client's own is only in the name of the file.
        """
        if self._first is None:
            return None
        if torn.values:
            (header, *others) = torn.values
            is_header = isinstance(header, Mapping) and header.get("type") == _HEADER
            return header if is_header and not others else None
        text = b"".join(torn.lost).decode("utf-8", "replace")
        time = _whole_text(text, "timestamp") or self._time
        if _HEADER not in text or time is None:
            return None
        name = _whole_text(text, "id")
        fields = {
            field: _whole_text(text, field) or default
            for field, default in (_HEADER_DEFAULTS | {"cwd": cwd or "/"}).items()
        }
        if provider := _whole_text(text, "model_provider"):
            fields["model_provider"] = provider
        if version is not None:
            fields["cli_version"] = version
        is_id = name is not None and _UUID.fullmatch(name)
        payload = {"id": name if is_id else uuid_for(content_id(self._first)), "timestamp": time}
        numbered = {} if self._number is None else {"ordinal": 0}
        return {"timestamp": time, **numbered, "type": _HEADER, "payload": {**payload, **fields}}


def _refused(decoded: Decoded, rule: str, reason: str, value: object, *path: str) -> RefusedRecord:
    return RefusedRecord(
        line=decoded.index,
        client=_CLIENT,
        reason=reason,
        is_sent=True,
        rule=rule,
        values=(FieldValue(path=path, value=value),),
    )


def _is_inserted(record: Mapping[str, Any]) -> bool:
    """Whether compactctl wrote a record."""
    return is_appended(record) or read_tags(record) is not NO_TAGS


def _whole_text(text: str, name: str) -> str | None:
    """Return the first text of that name in damaged JSON; None if its end is not there."""
    match = re.search(rf'"{name}"\s*:\s*("(?:[^"\\]|\\.)*")', text)
    try:
        return text_or_none(json.loads(match[1])) if match else None
    except ValueError:
        return None
