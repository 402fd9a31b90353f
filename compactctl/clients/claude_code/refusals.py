"""What Claude Code does not read of a session, and where it cuts off what was said before.

Seen in reports of users. Clients up to 2.1.143 did not find a session that begins with a link to a
pull request (issue 62851 of anthropics/claude-code); 2.1.197 and later do, and 2.1.332 reads the
record behind a byte order mark.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.claude_code.chain import HistoryCut
from compactctl.clients.claude_code.rows import Row
from compactctl.clients.records.decode import NOT_UTF8, Decoded
from compactctl.clients.records.versions import is_older
from compactctl.model.message import Message
from compactctl.model.transcript import FieldValue, RefusedRecord

_CLIENT = "Claude Code"
_LENIENT_VERSION = (2, 1, 197)
_PARENT = ("parentUuid",)


class ClaudeRefusals:
    """Collects the lines that the client does not accept, in file order."""

    def __init__(self) -> None:
        self._old: RefusedRecord | None = None
        self._damaged: list[int] = []

    def add_line(self, decoded: Decoded) -> None:
        """Add a line of the session."""
        if decoded.damage not in (None, NOT_UTF8):
            self._damaged.append(decoded.index)
        elif decoded.index == 0 and decoded.values:
            self._old = _first_fault(decoded, decoded.values[0])

    def records(
        self,
        version: str | None,
        cuts: Iterable[HistoryCut],
        rows: Sequence[Row],
        messages: Mapping[str, Sequence[Message]],
    ) -> list[RefusedRecord]:
        """Return what is not accepted in a session whose newest record is of that version.

        ``rows`` are those of the file in file order, and ``messages`` theirs by uuid.
        """
        refused = (
            [] if self._old is None or not is_older(version, _LENIENT_VERSION) else [self._old]
        )
        sizes: _Sizes | None = None
        for cut in cuts:
            sizes = _Sizes(rows, messages) if sizes is None else sizes
            if not sizes.may_continue(cut):
                break
            refused += self._of_cut(cut)
        return sorted(refused, key=lambda record: record.line)

    def _of_cut(self, cut: HistoryCut) -> Iterator[RefusedRecord]:
        """Yield the record whose parent is missing, and the damaged lines that may hold it."""
        start = bisect_left(self._damaged, cut.before.line)
        end = bisect_left(self._damaged, cut.row.line)
        for line in self._damaged[start:end]:
            yield RefusedRecord(
                line=line,
                client=_CLIENT,
                reason="it is damaged, so the client sends nothing that was said before it",
                is_sent=False,
                rule="torn",
            )
        yield RefusedRecord(
            line=cut.row.line,
            client=_CLIENT,
            reason="its parent is not in the file, so the client sends nothing before it",
            is_sent=True,
            rule="parent-missing",
            values=(FieldValue(_PARENT, cut.before.uuid),),
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


class _Sizes:
    """The sizes of requests by the place of their rows, apart for each side.

    A compaction, after which requests are smaller, is one of unknown size.
    """

    def __init__(self, rows: Iterable[Row], messages: Mapping[str, Sequence[Message]]) -> None:
        self._places: defaultdict[object, list[int]] = defaultdict(list)
        self._sizes: defaultdict[object, list[int]] = defaultdict(list)
        for row in rows:
            usages = (message.usage for message in messages.get(row.uuid, ()))
            size = next((usage.context for usage in usages if usage), 0)
            if size > 0 or row.boundary is not None:
                self._places[row.side].append(row.place)
                self._sizes[row.side].append(max(size, 0))

    def may_continue(self, cut: HistoryCut) -> bool:
        """Return whether what follows a cut may continue what stands before it.

        It does not if the first request behind it was smaller than the last one before it, as
        after the context was cleared.
        """
        sizes = self._sizes[cut.row.side]
        index = bisect_left(self._places[cut.row.side], cut.row.place)
        before = sizes[index - 1] if index else 0
        after = next((sizes[i] for i in range(index, len(sizes)) if sizes[i]), 0)
        return not after or after >= before
