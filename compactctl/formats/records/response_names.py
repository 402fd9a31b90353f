"""Names for model responses of which a file holds only the items."""

from compactctl.formats.records.message_draft import MessageDraft


class ResponseNames:
    """Groups what the model said up to the first output: parallel calls are one response."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0
        self._open = False

    def name(self, draft: MessageDraft) -> str | None:
        """Return the name of the response that the next item is part of, None outside of one."""
        if draft.role != "assistant" or draft.summary:
            self._open = False
            return None
        self._count += not self._open
        self._open = True
        return f"{self._prefix}{self._count}"

    def close(self) -> None:
        """End the newest response."""
        self._open = False
