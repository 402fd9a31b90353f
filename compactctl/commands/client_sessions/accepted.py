"""Which records of a session its client refuses, and what becomes of them in a new session."""

from collections.abc import Container, Sequence

from compactctl.errors import NotUnderstoodError
from compactctl.model.transcript import RefusedRecord, Transcript

# Records that a warning names; it only counts the others.
_MAX_RECORDS = 3


def check_accepted(path: str, transcript: Transcript, remaining: Container[int]) -> None:
    """Raise NotUnderstoodError if a client would refuse a new session for what is sent in it.

    ``remaining`` are the indices of the lines of ``transcript`` that the new session continues.
    """
    for record in transcript.refused:
        if record.is_sent and record.line in remaining:
            number = record.line + 1
            raise NotUnderstoodError(
                f"{path}: line {number}: {record.client} refuses a session with this "
                f"record ({record.reason}), which may be sent; no new session was written; correct "
                "the line, or write elsewhere with -o"
            )


def describe_refused(transcript: Transcript) -> tuple[str, ...]:
    """Return a warning about the records for which the client refuses the session; () for none."""
    records = transcript.refused
    if not records:
        return ()
    return (f"{records[0].client} refuses this session: {_list(records)}",)


def describe_left_out(transcript: Transcript) -> tuple[str, ...]:
    """Return a warning about the records that a new session leaves out; () for none."""
    records = [record for record in transcript.refused if not record.is_sent]
    if not records:
        return ()
    reason = f"because {records[0].client} would refuse it"
    return (f"left out of the new session, {reason}: {_list(records)}",)


def _list(records: Sequence[RefusedRecord]) -> str:
    texts = [f"line {record.line + 1:,} ({record.reason})" for record in records[:_MAX_RECORDS]]
    n_more = len(records) - len(texts)
    return ", ".join(texts) + (f" and {n_more:,} more" if n_more else "")
