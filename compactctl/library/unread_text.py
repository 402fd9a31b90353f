"""The refusal of what could not be read, which the library does not compact."""

from compactctl.errors import NotUnderstoodError
from compactctl.history.damage import describe_unread
from compactctl.model.transcript import Transcript


def check_read(transcript: Transcript) -> None:
    """Raise NotUnderstoodError if so much text was not read that the size is unknown."""
    unread = describe_unread(transcript.unread)
    if unread:
        raise NotUnderstoodError(
            f"messages: {unread}, so their size is unknown; name another format"
        )
