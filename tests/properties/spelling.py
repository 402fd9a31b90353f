"""Ways to spell one record as a raw line that all mean the same to a parser."""

import json
from typing import Any

Record = dict[str, Any]


def spelled(record: Record, style: int) -> bytes:
    """Return the line of a record; each style is odd in a way that was seen in real files."""
    match style:
        case 1:
            text = json.dumps(record)
        case 2:
            text = json.dumps(record, ensure_ascii=False, separators=(" ,  ", " :\t"))
        case 3:
            return _utf8(record) + b"\r\n"
        case 4:
            return b" \t" + _utf8(record) + b"  \n"
        case 5:
            text = _with_duplicates(record)
        case 6:
            text = _closed_late(record)
        case 7:
            odd = '"n":12345678901234567890123,"f":1.10e+2,"deep":[[[{"a":[]}]],-0],'
            text = "{" + odd + _compact(record)[1:]
        case 8:
            text = _compact(dict(sorted(record.items(), reverse=True)))
        case _:
            return _utf8(record) + b"\n"
    return text.encode("utf-8", "surrogatepass").replace(b"\xed\xa0\xbd", b"\\ud83d") + b"\n"


def _utf8(record: Record) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8; clients write it as an escape.
    return text.replace("\ud83d", "\\ud83d").encode()


def _compact(record: Record) -> str:
    return json.dumps(record, separators=(",", ":"))


def _with_duplicates(record: Record) -> str:
    """Say every string field twice; the last one counts."""
    decoys = {name: "decoy" for name, value in record.items() if isinstance(value, str)}
    decoys |= {"parentUuid": "decoy"} if "parentUuid" in record else {}
    return _compact(decoys)[:-1] + "," + _compact(record)[1:] if decoys else _compact(record)


def _closed_late(record: Record) -> str:
    return _compact(record)[:-1] + "\r\t }"


def last_torn(lines: list[bytes], style: int) -> bytes:
    """Join lines; some styles leave the last one without its terminator, or start with a BOM."""
    data = b"".join(lines)
    if style in (9, 10):
        data = data.rstrip(b"\r\n")
    return b"\xef\xbb\xbf" + data if style == 11 else data
