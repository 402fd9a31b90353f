"""Lines that are nested too deeply are carried and named; numbers may have any number of digits."""

import pytest
from formats.jsonl import decoded, raw_lines

from compactctl.clients.detection import detect
from compactctl.clients.records.decode import complete_value, decode, decode_lines, is_value
from compactctl.clients.registry import format_named
from compactctl.errors import NotUnderstoodError
from compactctl.model.json_parser import MAX_DEPTH, TOO_DEEP
from compactctl.model.transcript import RawLine

USER = {"role": "user", "content": "hi"}
OPENINGS = (b"[", b'{"a":', b'[ {"a b": "]}", "c":')
DEPTHS = (MAX_DEPTH + 1, 900, 1_020, 1_030, 100_000)


def nested(depth: int, opening: bytes = b"[") -> bytes:
    """Return a value of about this depth, but at least of so many levels."""
    levels = -(-depth // sum(map(opening.count, (b"[", b"{"))))
    closing = bytes({ord("["): ord("]"), ord("{"): ord("}")}[c] for c in opening if c in b"[{")
    return opening * levels + b"0" + closing[::-1] * levels


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(
    "around",
    [b"%s", b'{"role":"user","content":%s}', b"\xef\xbb\xbf %s", b"%s \0\0", b'{"a":1e400,"b":%s}'],
)
def test_a_line_that_is_too_deep_is_carried_as_such(
    depth: int, opening: bytes, around: bytes
) -> None:
    line = around.replace(b"%s", nested(depth, opening)) + b"\n"
    (read,) = decode_lines([RawLine(0, line)])
    assert (read.values, read.damage) == ((), TOO_DEEP)
    assert b"".join(read.lost).strip(b"\0 ") == line.removeprefix(b"\xef\xbb\xbf").strip(b"\0 \n")
    assert is_value(line.rstrip(b"\0 \n"))


@pytest.mark.parametrize("opening", OPENINGS[:2])
def test_less_deep_ones_are_read(opening: bytes) -> None:
    line = nested(MAX_DEPTH, opening)
    assert decode(line)[1] is None
    assert decode(line.replace(b"0", b"1e400"))[1] is None


def test_brackets_in_texts_are_no_levels() -> None:
    line = b'{"role":"user","content":"' + b"[{" * 1_000 + b'"}'
    assert decode(line)[1] is None
    assert decode(b"[" + b"[]," * 1_000 + b"[]]")[1] is None


@pytest.mark.parametrize("opening", OPENINGS)
def test_of_a_value_cut_off_too_deep_nothing_is_completed(opening: bytes) -> None:
    # Quadratic time would be minutes.
    assert complete_value(opening * 100_000) is None
    assert complete_value(nested(100_000, opening)[:-1]) is None
    assert complete_value(b'{"a":' + opening * 50 + b'"cut') is not None


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_file_of_nothing_else_is_said_to_be_too_deep(depth: int) -> None:
    lines = [b'{"role":"user","content":%s}' % nested(depth)]
    with pytest.raises(NotUnderstoodError, match=r"^x: line 1: nested more than 200 levels deep; "):
        detect(decoded(lines), "x", lines[0][:1_000])


def test_beside_messages_such_a_line_counts_as_unread() -> None:
    lines = [*raw_lines(USER), b'{"role":"user","content":%s}\n' % nested(500), *raw_lines(USER)]
    transcript = format_named("openai-chat").read(decoded(lines))
    assert [message.line for message in transcript.messages] == [0, 2]
    assert [(opaque.line, opaque.damage) for opaque in transcript.opaque] == [(1, TOO_DEEP)]
    assert transcript.unread.lost == len(lines[1]) - 1


@pytest.mark.parametrize("number", ["1" * 5_000, "-" + "1" * 5_000, "1e400", "-1e400"])
def test_a_number_that_no_float_can_hold_is_read_as_its_text(number: str) -> None:
    assert decode(f'{{"a": [{number}], "b": 1}}'.encode()) == (({"a": [number], "b": 1},), None)
