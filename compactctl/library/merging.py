"""A summarizer that goes on from its last summary instead of reading everything again."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from compactctl.model.message import MessageId
from compactctl.model.summary import Summarizer, Summary, SummaryRequest
from compactctl.records import replace


class Summarized(NamedTuple):
    """The text of a summary, and the messages that it stands for."""

    text: str = ""
    ids: frozenset[MessageId] = frozenset()


class MergingSummarizer:
    """Asks ``write`` to merge ``newest``, the last summary that was used, with what came since."""

    def __init__(self, write: Summarizer) -> None:
        self.newest = Summarized()
        self._write = write
        self._written: list[Summarized] = []

    def __call__(self, request: SummaryRequest, count: Callable[[str], int]) -> Summary:
        """Write the summary of all messages of a request."""
        ids = frozenset(message.id for message in request.messages)
        if self.newest.text and self.newest.ids <= ids:
            added = tuple(m for m in request.messages if m.id not in self.newest.ids)
            if not added:
                return Summary(text=self.newest.text)
            request = replace(request, messages=added, previous=self.newest.text)
        summary = self._write(request, count)
        self._written.append(Summarized(summary.text, ids))
        return summary

    def accept(self, texts: Iterable[str]) -> None:
        """Remember the summary that is in one of ``texts``, which the stages inserted."""
        inserted = "\n".join(texts)
        used = (item for item in self._written if item.text and item.text in inserted)
        self.newest = next(used, self.newest)
        self._written.clear()
