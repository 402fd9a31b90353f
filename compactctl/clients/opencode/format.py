"""OpenCode sessions, as its export command writes them."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.format import Format
from compactctl.clients.opencode.parts import COUNTS, NAME, is_message
from compactctl.clients.records.containers import read_containers
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.model.message import Part, RecordLocation, Synthetic, ToolResultPart
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import ANY_INDEX, UnsentRule
from compactctl.pipeline.writer import InsertionContext

# Ids sort by time: twelve hexadecimal digits of it, then fourteen random characters.
_MESSAGE_ID = re.compile(r"msg_([0-9a-f]{12})[0-9A-Za-z]{14}")
_N_RANDOM = 14
# Sorts after the client's random characters, so that the id is the last of its millisecond.
_LAST = "zzzz"
_TOOL_METADATA = ("messages", ANY_INDEX, "parts", ANY_INDEX, "state", "metadata")
_PROMPT_DIFFS = ("messages", ANY_INDEX, "info", "summary", "diffs")
# The client requires these fields, so they are emptied instead of removed. Those of a call that was
# interrupted may have its output.
_ENDED = {"status": frozenset({"completed", "pending", "running"})}
_UNSENT = (
    UnsentRule(kind="copies", match={}, path=_TOOL_METADATA, replacement="{}", beside=_ENDED),
    UnsentRule(kind="copies", match={}, path=_PROMPT_DIFFS, replacement="[]"),
)


class OpenCode(Format):
    """Reads and writes the messages of an export document."""

    name = NAME
    title = "OpenCode export"
    client = "OpenCode"
    reads_arrays = True
    usage_fields = COUNTS
    unsent = _UNSENT

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize records with ``info`` and ``parts``, bare or in a document's ``messages``."""
        return any(map(is_message, records)) or any(
            isinstance(record.get("info"), Mapping) and any(map(is_message, inner))
            for record in records
            if isinstance(inner := record.get("messages"), list)
        )

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        from compactctl.clients.opencode.reader import OpenCodeReader

        reader = OpenCodeReader()
        for container in read_containers(lines, reader.builder):
            reader.add_container(container)
        return reader.finish()

    def compaction_request(
        self, lines: Iterable[Decoded], summary: RecordLocation
    ) -> tuple[RecordLocation, ...]:
        """Return the user message that a summary answers, if it asked for it."""
        from compactctl.clients.opencode.compactions import compaction_request

        return compaction_request(lines, summary)

    def cleared_outputs(self, lines: Iterable[Decoded]) -> Iterator[tuple[RecordLocation, Any]]:
        """Yield each ``time`` that marks a cleared output, and its other fields."""
        from compactctl.clients.opencode.compactions import cleared_outputs

        return cleared_outputs(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message of one text that the client sorts right before ``beside``."""
        info = object_or_empty(beside.neighbor.get("info"))
        name = _id_before(text_or_empty(info.get("id")), message.id)
        session = {"sessionID": info["sessionID"]} if "sessionID" in info else {}
        part = {"id": "prt" + name.removeprefix("msg"), **session, "messageID": name}
        return {
            "info": {"id": name, **session, "role": "user", **_sender(info)},
            "parts": [{**part, "type": "text", "text": message.text, "synthetic": True}],
        }

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return a call's new state, or a text part for media; see ``Format.new_content``."""
        if isinstance(part, ToolResultPart):
            if part.path[-1] != "state":
                return text
            fields = object_or_empty(current).items()
            state = {name: value for name, value in fields if name != "attachments"}
            return {**state, "output": text}
        if isinstance(current, Mapping):
            ids = {n: current[n] for n in ("id", "sessionID", "messageID") if n in current}
            return {**ids, "type": "text", "text": text}
        return text


def _id_before(anchor: str, name: str) -> str:
    """Return an id that sorts right before ``anchor``, if that is one of the client's ids."""
    digest = hashlib.sha256(f"{anchor} {name}".encode("utf-8", "surrogatepass")).hexdigest()
    match = _MESSAGE_ID.fullmatch(anchor)
    time = int(match[1], 16) - 1 if match else -1
    if time < 0:
        return f"{anchor or 'msg_'}{digest[:12]}"
    return f"msg_{time:012x}{_LAST}{digest[: _N_RANDOM - len(_LAST)]}"


def _sender(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a user message must have, with the values of its neighbor."""
    model = info.get("model")
    if not isinstance(model, Mapping):
        model = {name: info[name] for name in ("providerID", "modelID") if name in info}
    created = object_or_empty(info.get("time")).get("created")
    return {
        **({} if created is None else {"time": {"created": created}}),
        **({} if "agent" not in info else {"agent": info["agent"]}),
        **({"model": model} if model else {}),
    }
