"""What was said in a session since one of its states, although its client has repeated that state.

When the client resumes a session, it appends the whole conversation as it sends it: calls and
results as messages of their own, results twice, long ones as the names of files, and not always the
first prompt (observed with client 0.61).
"""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from compactctl.clients.gemini_cli.reader import CONTEXT, MODEL_TYPE, USER_TYPE, GeminiReader
from compactctl.clients.gemini_cli.record_kinds import REWIND, SET
from compactctl.clients.records.decode import Decoded, decode_lines
from compactctl.clients.records.json_values import object_or_empty
from compactctl.model.json_paths import value_at
from compactctl.model.message import Message, Part, TextPart, ToolCallPart, ToolResultPart
from compactctl.model.transcript import RawLine
from compactctl.pipeline.record_splice import dump

_Piece = tuple[tuple[str, str], Message]


def said_since(name: str, earlier: Sequence[bytes], added: Sequence[bytes]) -> Sequence[bytes]:
    """Return lines with what the lines ``added`` say beyond those of ``earlier``.

    These are all of ``added`` if the client has not repeated what is known, or has compacted it.
    ``name`` is that of the format.
    """
    lines = _decoded((*earlier, *added))
    new_lines = lines[len(earlier) :]
    if not any(map(_repeats, new_lines)):
        return added
    before, after = _pieces(name, lines[: len(earlier)]), _pieces(name, lines)
    earlier_keys = {key for key, _ in before}
    if any(message.origin.is_summary and key not in earlier_keys for key, message in after):
        return added
    old, new = ([key for key, _ in pieces] for pieces in (before, after))
    *matches, _ = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    start = max((match.b + match.size for match in matches), default=0)
    said = {
        message.id: message
        for key, message in after[start:]
        if key[0] != "result" or key not in earlier_keys
    }
    others = (added[line.index - len(earlier)] for line in new_lines if _is_other(line))
    return [*(_line_of(message, lines, (*earlier, *added)) for message in said.values()), *others]


def _decoded(lines: Sequence[bytes]) -> tuple[Decoded, ...]:
    return tuple(decode_lines(RawLine(index, line) for index, line in enumerate(lines)))


def _repeats(line: Decoded) -> bool:
    updates = (object_or_empty(object_or_empty(value).get(SET)) for value in line.values)
    return any("messages" in update for update in updates)


def _pieces(name: str, lines: Iterable[Decoded]) -> list[_Piece]:
    """Return the pieces that would be sent, but for the client's description of the session."""
    sent = GeminiReader(name).read(lines).effective
    pieces = ((_key(part), message) for message in sent for part in message.parts)
    return [(key, message) for key, message in pieces if not key[1].startswith(CONTEXT)]


def _key(part: Part) -> tuple[str, str]:
    match part:
        case ToolCallPart():
            return "call", part.call_id
        case ToolResultPart():
            return "result", part.call_id
        case TextPart():
            return "text", part.text.strip()
        case _:
            return type(part).__name__, ""


def _line_of(message: Message, lines: Sequence[Decoded], data: Sequence[bytes]) -> bytes:
    if not message.record_path:
        return data[message.line]
    return dump(value_at(lines[message.line].values[0], message.record_path)).encode() + b"\n"


def _is_other(line: Decoded) -> bool:
    """Return whether a line holds neither messages to send nor what they are replaced by."""
    record = object_or_empty(line.values[0] if line.values else None)
    is_sent = record.get("type") in (USER_TYPE, MODEL_TYPE)
    return not (is_sent or REWIND in record or _repeats(line))
