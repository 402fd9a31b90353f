"""What Claude Code does not read of a session, and where it cuts off what was said before.

Seen in reports of users. Clients up to 2.1.143 did not find a session that begins with a link to a
pull request (issue 62851 of anthropics/claude-code); 2.1.197 and later do, and 2.1.332 reads the
record behind a byte order mark.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.claude_code.cuts import CutJudge, HistoryCut
from compactctl.clients.claude_code.damage import DamagedRecord, damaged_records
from compactctl.clients.claude_code.islands import messages_of
from compactctl.clients.claude_code.rows import Rows
from compactctl.clients.records.decode import NOT_UTF8, Decoded
from compactctl.clients.records.versions import is_older
from compactctl.model.island import Island, island_of
from compactctl.model.message import Message
from compactctl.model.transcript import FieldValue, RefusedRecord

_CLIENT = "Claude Code"
_LENIENT_VERSION = (2, 1, 197)
_PARENT = ("parentUuid",)


class ClaudeRefusals:
    """Collects the lines that the client does not accept, in file order.

    ``damaged`` are the records on damaged lines, which the client does not read.
    """

    def __init__(self) -> None:
        self.damaged: list[DamagedRecord] = []
        self._old: RefusedRecord | None = None
        self._damaged_lines: list[int] = []

    def add_line(self, decoded: Decoded) -> None:
        """Add a line of the session."""
        if decoded.damage not in (None, NOT_UTF8):
            self._damaged_lines.append(decoded.index)
            self.damaged += damaged_records(decoded)
        elif decoded.index == 0 and decoded.values:
            self._old = _first_fault(decoded, decoded.values[0])

    def records(
        self,
        version: str | None,
        cuts: Iterable[HistoryCut],
        rows: Rows,
        messages: Mapping[str, Sequence[Message]],
    ) -> list[RefusedRecord]:
        """Return what is not accepted in a session whose newest record is of that version.

        ``rows`` are those of the file, and ``messages`` theirs by uuid.
        """
        refused = (
            [] if self._old is None or not is_older(version, _LENIENT_VERSION) else [self._old]
        )
        judge = CutJudge(rows, messages)
        for cut in cuts:
            said = messages_of(cut.rows, messages)
            if not said:
                break
            verdict = judge.verdict(cut)
            island = island_of(verdict.kind, said)
            refused.append(_cut_at(cut, island, is_proven=verdict.is_proven))
            if not verdict.is_proven:
                break
            refused += self._torn_before(cut)
        return sorted(refused, key=lambda record: record.line)

    def _torn_before(self, cut: HistoryCut) -> Iterator[RefusedRecord]:
        """Yield the damaged lines that may hold the parent which is missing."""
        start = bisect_left(self._damaged_lines, cut.before.line)
        end = bisect_left(self._damaged_lines, cut.row.line)
        for line in self._damaged_lines[start:end]:
            yield RefusedRecord(
                line=line,
                client=_CLIENT,
                reason="it is damaged, so the client sends nothing that was said before it",
                is_sent=False,
                rule="torn",
            )


def _cut_at(cut: HistoryCut, island: Island, *, is_proven: bool) -> RefusedRecord:
    """Return a record whose parent is missing, with the one before it if that is proven."""
    return RefusedRecord(
        line=cut.row.line,
        client=_CLIENT,
        reason="its parent is not in the file, so the client sends nothing before it",
        is_sent=True,
        rule="parent-missing" if is_proven else "context-cleared",
        values=(FieldValue(_PARENT, cut.before.uuid),) if is_proven else (),
        island=island,
    )


def _first_fault(decoded: Decoded, record: Any) -> RefusedRecord | None:  # noqa: ANN401 - JSON
    """Return what older clients do not accept in the first record."""
    if not isinstance(record, Mapping):
        return None
    if decoded.has_bom:
        return RefusedRecord(
            line=decoded.index,
            client=_CLIENT,
            reason="a byte order mark stands before it, so older versions skip it",
            is_sent=True,
            rule="bom",
            values=(FieldValue((), record),),
        )
    if record.get("type") == "pr-link":
        return RefusedRecord(
            line=decoded.index,
            client=_CLIENT,
            reason="older versions do not find a session that begins with a link",
            is_sent=False,
            rule="header",
        )
    return None
