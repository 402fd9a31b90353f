"""Joins tool results to tool calls by their order, where a format or a file has no call ids."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compactctl.model.message import NO_TAGS, CallId, Tags

NO_CALL = CallId("")
# A result that comes more batches late than this answers nothing; it bounds the search.
_MAX_BATCHES = 50


@dataclass(frozen=True, slots=True)
class _Call:
    call_id: CallId
    tool: str
    step: int | None


class CallIdAssigner:
    """Hands out position-derived call ids.

    Calls with no result between them were made in parallel and are answered in their order; a
    result belongs to the newest such batch that has a call it fits. An original behind the record
    that was rewritten from it has the ids of that one.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._count = 0
        self._batches: list[list[_Call]] = []
        self._answering = True
        self._edit: str | None = None
        self._issued: list[CallId] = []
        self._reused: Iterator[CallId] = iter(())

    def begin_record(self, tags: Tags = NO_TAGS) -> None:
        """Begin a record that carries ``tags``; the ids up to the next one are for it."""
        is_original = tags.edit_parent is not None and tags.edit_parent == self._edit
        self._reused = iter(self._issued if is_original else ())
        self._edit, self._issued = tags.edit_id, []

    def id_for_call(self, tool: str, step: int | None = None) -> CallId:
        """Return the id for the next call; ``step`` numbers the model response it is part of."""
        return self._next(lambda: self._new_id(tool, step))

    def id_for_result(self, tool: str, step: int | None = None) -> CallId:
        """Return the id of the call that the next result answers, "" when there is none.

        An empty ``tool`` and a ``step`` of None fit any call.
        """
        return self._next(lambda: self._match_result(tool, step))

    def _next(self, find: Callable[[], CallId]) -> CallId:
        known = next(self._reused, None)
        name = find() if known is None else known
        self._issued.append(name)
        return name

    def _new_id(self, tool: str, step: int | None) -> CallId:
        if self._answering:
            waiting = [batch for batch in self._batches if batch]
            self._batches = [*waiting[1 - _MAX_BATCHES :], []]
        self._answering = False
        self._count += 1
        name = CallId(f"{self.prefix}{self._count}")
        self._batches[-1].append(_Call(name, tool, step))
        return name

    def _match_result(self, tool: str, step: int | None) -> CallId:
        self._answering = True
        for batch in reversed(self._batches):
            for index, call in enumerate(batch):
                if _fits(call, tool, step):
                    return batch.pop(index).call_id
        return NO_CALL


def _fits(call: _Call, tool: str, step: int | None) -> bool:
    same_tool = not (tool and call.tool) or tool == call.tool
    return same_tool and (step is None or call.step is None or step == call.step)
