"""What crashes, full disks and two writers make of a transcript."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

Lines = list[bytes]
NULS = 64


def damaged(data: bytes, rng: Random) -> bytes:
    """Return the transcript after one to three accidents."""
    lines = data.splitlines(keepends=True)
    for _ in range(rng.randint(1, 3)):
        lines = rng.choice(ACCIDENTS)(list(lines), rng) or lines
    return b"".join(lines)


def excerpt(data: bytes, rng: Random, size: int) -> bytes:
    """Return so many lines of a transcript from anywhere, mostly with its first ones."""
    lines = data.splitlines(keepends=True)
    start = rng.randrange(max(1, len(lines) - size))
    head = lines[: min(3, start)] if rng.random() < 0.5 else []
    return b"".join([*head, *lines[start : start + size]])


def redocumented(data: bytes, rng: Random) -> bytes:
    """Return a document whose records had accidents; it is whole JSON again."""
    value = json.loads(data)
    for _ in range(rng.randint(1, 3)):
        if records := _records(value):
            _shuffle(records, rng)
    return json.dumps(value).encode()


def _records(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return next((each for each in value.values() if isinstance(each, list)), [])


def _shuffle(records: list[Any], rng: Random) -> None:
    at = rng.randrange(len(records))
    match rng.randrange(4):
        case 0 if len(records) > 1:
            del records[at : at + rng.randint(1, 3)]
        case 1:
            records.insert(rng.randrange(len(records)), records[at])
        case 2:
            other = rng.randrange(len(records))
            records[at], records[other] = records[other], records[at]
        case _:
            del records[: rng.randrange(len(records))]


def _lost(lines: Lines, rng: Random) -> Lines:
    for _ in range(rng.randint(1, 4)):
        if len(lines) > 1:
            del lines[rng.randrange(len(lines))]
    return lines


def _lost_block(lines: Lines, rng: Random) -> Lines:
    at = rng.randrange(len(lines))
    return lines[:at] + lines[at + rng.randint(2, 12) :]


def _torn(lines: Lines, rng: Random) -> Lines:
    """A line is written in part; the next one begins on a line of its own, or right behind it."""
    at = rng.randrange(len(lines))
    end = rng.choice((b"\n", b""))
    lines[at] = lines[at][: rng.randrange(len(lines[at]))] + end
    return lines


def _torn_head(lines: Lines, rng: Random) -> Lines:
    at = rng.randrange(len(lines))
    lines[at] = lines[at][rng.randrange(len(lines[at])) :]
    return lines


def _twice(lines: Lines, rng: Random) -> Lines:
    at = rng.randrange(len(lines))
    block = lines[at : at + rng.choice((1, 1, 2, 6))]
    to = rng.choice((at, at + len(block), rng.randrange(len(lines))))
    return lines[:to] + block + lines[to:]


def _swapped(lines: Lines, rng: Random) -> Lines:
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    second = rng.choice((second, min(first + 1, len(lines) - 1)))
    lines[first], lines[second] = lines[second], lines[first]
    return lines


def _no_head(lines: Lines, rng: Random) -> Lines:
    rest = b"".join(lines)
    if rng.random() < 0.5:
        return lines[rng.randrange(len(lines)) :]
    return rest[rng.randrange(len(rest)) :].splitlines(keepends=True)


def _no_tail(lines: Lines, rng: Random) -> Lines:
    whole = b"".join(lines)
    return whole[: rng.randrange(1, len(whole) + 1)].splitlines(keepends=True)


def _nul(lines: Lines, rng: Random) -> Lines:
    """A block of the file that was never written: alone, before a record, in the place of one."""
    at = rng.choice((rng.randrange(len(lines)), len(lines) - 1))
    match rng.randrange(5):
        case 0:
            lines.insert(at, b"\0" * NULS + b"\n")
        case 1:
            lines[at] = b"\0" * NULS + lines[at]
        case 2:
            lines[at] = b"\0" * len(lines[at])
        case 3:
            cut = rng.randrange(len(lines[at]))
            lines[at] = lines[at][:cut] + b"\0" * (len(lines[at]) - cut)
        case _:
            lines.append(b"\0" * NULS)
    return lines


def _glued(lines: Lines, rng: Random) -> Lines:
    at = rng.randrange(len(lines))
    lines[at] = lines[at].rstrip(b"\r\n")
    return lines


def _interleaved(lines: Lines, rng: Random) -> Lines:
    """Two writers at once: a part of one line stands in the middle of another, or lines mix."""
    at = rng.randrange(len(lines))
    if rng.random() < 0.5:
        cut = rng.randrange(len(lines[at]))
        other = lines[rng.randrange(len(lines))]
        lines[at] = lines[at][:cut] + other + lines[at][cut:]
        return lines
    block, rest = lines[at : at + 8], lines[at + 8 :]
    rng.shuffle(block)
    return lines[:at] + block + rest


def _new_end(lines: Lines, rng: Random) -> Lines:
    """The end is gone and the client went on from what it had in memory."""
    at = rng.randrange(len(lines))
    return lines[:at] + lines[at + rng.randint(1, 6) :] + lines[at : at + 1]


ACCIDENTS: tuple[Callable[[Lines, Random], Lines], ...] = (
    _lost,
    _lost_block,
    _torn,
    _torn_head,
    _twice,
    _swapped,
    _no_head,
    _no_tail,
    _nul,
    _glued,
    _interleaved,
    _new_end,
)


def _around(before: bytes, behind: bytes = b"") -> Callable[[bytes], bytes]:
    """Return what puts bytes before a line, and behind it before its line break."""

    def damage(line: bytes) -> bytes:
        body = line.rstrip(b"\r\n")
        return before + body + behind + line[len(body) :]

    return damage


def _half(line: bytes) -> bytes:
    return line[: len(line) // 2]


LINE_DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "zeros before": _around(b"\0\0\0"),
    "zeros behind": _around(b"", b"\0\0\0"),
    "zeros and blanks around": _around(b" \0\t \0", b"\0 \0 "),
    "only zeros": lambda line: b"\0" * len(line.rstrip(b"\r\n")) + b"\n",
    "garbage before": _around(b"\xff\xfe not JSON "),
    "garbage behind": _around(b"", b" \xff not JSON"),
    "a log prefix that is not UTF-8": _around(b"caf\xe9 2026-01-02T03:04:05 INFO "),
    "a byte order mark": _around(b" \xef\xbb\xbf "),
    "a byte order mark behind zeros": _around(b"\0\xef\xbb\xbf\0"),
    "blanks and CRLF": _around(b" \t ", b" \r"),
    "a byte that is not UTF-8": lambda line: line.replace(b"e", b"\xe9", 1),
    "a lone surrogate": lambda line: line.replace(b"le", b"\\ud800e"),
    "twice on a line": lambda line: line.rstrip(b"\r\n") + line,
    "no line break": lambda line: line.rstrip(b"\r\n"),
    "torn before the whole": lambda line: _half(line) + line,
    "torn in UTF-8 before the whole": lambda line: _half(line) + b"\xc3" + line,
    "torn": lambda line: _half(line) + b"\n",
    "torn before the next": _half,
    "an array": _around(b"[", b"]"),
}
"""What one line looks like after an accident, by name; most leave its record readable."""
