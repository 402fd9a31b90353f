"""A small Claude Code session with every damage that was seen in real files."""

from typing import Any

from samples.stamps import Ids, compact
from samples.workbench import ROOT

NULS = 64
LONE_SURROGATE = r"\ud83d"
HUGE = "12345678901234567890123"


class Writer:
    """Chained records as text, so that a caller can damage them."""

    def __init__(self) -> None:
        self.ids = Ids("damaged")
        self.session = self.ids.uuid()
        self.parent: str | None = None
        self.minute = 0

    def record(self, role: str, content: str | list[dict[str, Any]], **fields: object) -> str:
        """One chained line without its newline."""
        if role == "assistant" and isinstance(content, str):
            content = [{"type": "text", "text": content}]
        self.minute += 1
        line_id = self.ids.uuid()
        envelope = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "cwd": ROOT,
            "sessionId": self.session,
            "version": "2.1.80",
            "type": role,
            "message": {"role": role, "content": content},
            "uuid": line_id,
            "timestamp": f"2025-03-25T09:{self.minute:02}:00.000Z",
        }
        self.parent = line_id
        return compact(envelope | fields)

    def call(self, command: str) -> tuple[str, str]:
        """An assistant line with one call, and the id of the call."""
        call_id = self.ids.token("toolu_01", 22)
        block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}
        return self.record("assistant", [block]), call_id

    def lost(self, text: str) -> str:
        """A line on which nothing hangs, because the next one does not know of it."""
        parent = self.parent
        line = self.record("assistant", text)
        self.parent = parent
        return line

    def result(self, call_id: str, text: str) -> str:
        """The line that answers a call."""
        return self.record(
            "user", [{"type": "tool_result", "tool_use_id": call_id, "content": text}]
        )


def _spaced(line: str) -> str:
    return " " + line.replace('"type":"assistant"', '"type" :\t"assistant"', 1) + "  "


def build() -> bytes:
    """The bytes of the sample: broken lines first, then lines that are whole but odd."""
    told = Writer()
    lines = _broken(told) + _odd(told)
    last = told.record("user", "Then start it again, please, and tell me wh")
    return b"".join(lines) + last.encode()[:-90]


def _broken(told: Writer) -> list[bytes]:
    prompt = told.record("user", "The disk ran full last night. What is left?")
    call, call_id = told.call("df -h /var/quayside")
    result = told.result(call_id, "/dev/sda2 100% /var")
    torn = told.lost("Looking at the journal of the service next.")
    journal, journal_id = told.call("journalctl -u quayside -n 5")
    return [
        # carriage return before the newline
        prompt.encode() + b"\r\n",
        call.encode() + b"\n",
        # padding after the record
        result.encode() + b"\0" * NULS + b"\n",
        # a block that was reserved and never written
        b"\0" * NULS * 4 + b"\n",
        # a record that broke off, and the next one glued to it
        torn.encode()[:150] + journal.encode() + b"\n",
        told.result(journal_id, "no space left on device").encode() + b"\n",
        # no JSON at all
        b"-- journal rotated, 3 lines lost --\n",
        # bytes that are no UTF-8
        told.record("user", "The letter says: Gr@@e").encode().replace(b"@@", b"\xfc\xdf") + b"\n",
    ]


def _odd(told: Writer) -> list[bytes]:
    twice = ',"version":"2.1.80","version":"2.1.81"}'
    lines = [
        told.record("assistant", "Cut in the middle: @@").replace("@@", LONE_SURROGATE),
        told.record("user", "Second thought, keep the log.")[:-1] + twice,
        told.record("user", "Inode?", inode="@@").replace('"@@"', HUGE),
        told.record("user", "Load?", load="@@").replace('"@@"', '1.10,"limit":1e5'),
        _spaced(told.record("assistant", "Load 1.10, well below the limit.")),
        "",
    ]
    return [line.encode() + b"\n" for line in lines]
