"""Records of a session under its new id; what names no session stays the same bytes."""

import re
from collections.abc import Callable

from compactctl.errors import NotUnderstoodError
from compactctl.formats.records.decode import decode, is_wrapped
from compactctl.formats.records.json_values import object_or_empty
from compactctl.model.message import JsonPath
from compactctl.pipeline.record_splice import changed
from compactctl.pipeline.spans import splice
from compactctl.sessions.session import Session

KEY = "sessionId"


def with_session_id(line: bytes, path: JsonPath, old: str, new: str) -> bytes:
    """Return a record that names the session at a path with its new id.

    A record of another session, and what cannot be parsed, stay as they are.
    """
    if old.encode() not in line:
        return line
    values, damage = decode(line)
    if damage or _value_at(values[0], path) != old:
        return line
    named = f'"{KEY}":"{old}"'.encode()
    # Unless the key is there again, or spelled with escapes, it need not be looked for.
    if named in line and line.count(KEY.encode()) == 1 and b"\\u00" not in line:
        return line.replace(named, f'"{KEY}":"{new}"'.encode())
    text = line.decode()
    return splice(text, changed(text, [(path, new)])).encode()


def renamed_anywhere(old: str, new: str) -> Callable[[bytes], bytes]:
    """Return what renames the session wherever some JSON names it, over however many lines."""
    named = re.compile(rb'("%s"\s*:\s*)"%s"' % (KEY.encode(), re.escape(old.encode())))
    return lambda data: named.sub(rb'\g<1>"%s"' % new.encode(), data)


def first_record(line: bytes, kind: str, session: Session) -> str:
    """Return the text of the record that names the session. NotUnderstoodError for another one."""
    values, _ = decode(line)
    record = values[0] if values and not is_wrapped(line) else None
    if not isinstance(record, dict) or record.get("type") != kind:
        raise NotUnderstoodError(
            f"{session.entry.path}: does not begin with the record that names the session "
            f"({kind}), so it cannot be given a new name; write a file elsewhere with -o"
        )
    return line.decode()


def _value_at(value: object, path: JsonPath) -> object:
    for step in path:
        value = object_or_empty(value).get(str(step))
    return value
