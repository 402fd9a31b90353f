"""Which items of a Codex session are one model response, and what each response cost."""

from dataclasses import replace

from compactctl.formats.records.builder import TranscriptBuilder
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.formats.records.response_names import ResponseNames
from compactctl.model.message import ReportedUsage


class Responses:
    """Tells the items of one response, and takes in what it cost."""

    def __init__(self, gather: TranscriptBuilder, prefix: str = "response-") -> None:
        self._gather = gather
        self._names = ResponseNames(prefix)
        self._name: str | None = None
        self._known = False
        self._newest: int | None = None
        self._early: ReportedUsage | None = None

    def joined(self, draft: MessageDraft, model: str | None) -> MessageDraft:
        """Return the draft as part of its response; to be called right before it is taken in."""
        name = self._names.name(draft)
        if name is None:
            return draft
        self._known = self._known and name == self._name
        self._name = name
        self._newest = len(self._gather.messages)
        usage, self._early = self._early, None
        self._known = self._known or usage is not None
        return replace(draft, response_id=name, model=model, usage=usage)

    @property
    def is_due(self) -> bool:
        """Whether the newest response has no usage yet."""
        return self._newest is not None and not self._known

    def cost(self, usage: ReportedUsage) -> None:
        """Take in a response's usage.

        Newer clients report it after the response's outputs, older ones before its first item:
        when the newest response has one already, it is the next one's.
        """
        if self._newest is None or not self.is_due:
            self._early = usage
            return
        messages = self._gather.messages
        messages[self._newest] = replace(messages[self._newest], usage=usage)
        self._known = True

    def close(self) -> None:
        """End the newest response: a compaction or a rollback parts it from what follows."""
        self._names.close()
        self._newest = None
        self._early = None
