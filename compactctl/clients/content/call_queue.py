"""Match tool results to tool calls by order, for formats and files without call ids."""

import re
from collections.abc import Callable, Iterator
from itertools import product

from compactctl.model.message import NO_TAGS, CallId, Tags
from compactctl.records import Record

NO_CALL = CallId("")
# Bounds the search: a result is not matched to calls older than this many batches.
_MAX_BATCHES = 50
_DERIVED_ID = re.compile(r"call-\d+-\d+")


def call_prefix(conversation: int) -> str:
    """Return the prefix of the ids that are derived for the calls of a conversation."""
    return f"call-{conversation}-"


def is_derived(call_id: str) -> bool:
    """Whether a call id was derived, with a prefix of ``call_prefix``, and is not in the file."""
    return _DERIVED_ID.fullmatch(call_id) is not None


class _Call(Record, kw_only=False):
    call_id: CallId
    tool: str
    step: int | None
    has_recorded_id: bool


class CallIdAssigner:
    """Derive call ids from the order of calls and results.

    Calls without a result between them form a batch of parallel calls. A result answers the first
    unanswered call of its tool in the newest batch that has one::

        call read, call grep, result grep, result read    ids 1, 2, 2, 1
        call read, result read, call read, result read    ids 1, 1, 2, 2

    An original that follows its rewritten record gets the same ids. Where only some records have
    ids, a result without one answers a call without one, if any is open.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._count = 0
        self._batches: list[list[_Call]] = []
        self._is_batch_closed = True
        self._edit_id: str | None = None
        self._issued: list[CallId] = []
        self._reused: Iterator[CallId] = iter(())

    def begin_record(self, tags: Tags = NO_TAGS) -> None:
        """Start a record with these ``tags``; the following ids belong to it."""
        is_original = tags.edit_parent is not None and tags.edit_parent == self._edit_id
        self._reused = iter(self._issued if is_original else ())
        self._edit_id, self._issued = tags.edit_id, []

    def end_batch(self) -> None:
        """Let the next call begin a batch of its own, as after a prompt."""
        self._is_batch_closed = True

    def id_for_call(self, tool: str, step: int | None = None, recorded_id: str = "") -> CallId:
        """Return the recorded id of a call, or else a new one.

        ``step`` is the number of its model response.
        """
        return self._next(lambda: self._add_call(tool, step, recorded_id))

    def id_for_result(self, tool: str, step: int | None = None, recorded_id: str = "") -> CallId:
        """Return the recorded id of a result, or else that of the call it answers, or "".

        An empty ``tool`` and a ``step`` of None match any call.
        """
        if recorded_id:
            return self._next(lambda: self._close_call(CallId(recorded_id)))
        return self._next(lambda: self._match_result(tool, step))

    def _next(self, assign: Callable[[], CallId]) -> CallId:
        reused_id = next(self._reused, None)
        call_id = assign() if reused_id is None else reused_id
        self._issued.append(call_id)
        return call_id

    def _add_call(self, tool: str, step: int | None, recorded_id: str) -> CallId:
        if self._is_batch_closed:
            open_batches = [batch for batch in self._batches if batch]
            self._batches = [*open_batches[1 - _MAX_BATCHES :], []]
        self._is_batch_closed = False
        self._count += not recorded_id
        call_id = CallId(recorded_id or f"{self.prefix}{self._count}")
        self._batches[-1].append(_Call(call_id, tool, step, bool(recorded_id)))
        return call_id

    def _close_call(self, call_id: CallId) -> CallId:
        self._is_batch_closed = True
        for batch in self._batches:
            batch[:] = [call for call in batch if call.call_id != call_id]
        return call_id

    def _match_result(self, tool: str, step: int | None) -> CallId:
        self._is_batch_closed = True
        for has_recorded_id, batch in product((False, True), reversed(self._batches)):
            for index, call in enumerate(batch):
                if call.has_recorded_id == has_recorded_id and _fits(call, tool, step):
                    return batch.pop(index).call_id
        return NO_CALL


def _fits(call: _Call, tool: str, step: int | None) -> bool:
    same_tool = not (tool and call.tool) or tool == call.tool
    return same_tool and (step is None or call.step is None or step == call.step)
