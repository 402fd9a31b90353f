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


def describe_refused(transcript: Transcript, *, are_left_out: bool = False) -> tuple[str, ...]:
    """Return a warning about the records for which the client refuses the session; () for none.

    ``are_left_out`` says that a new session was written without those that are never sent.
    """
    records = [r for r in transcript.refused if not (are_left_out and r.is_sent)]
    if not records:
        return ()
    client = records[0].client
    fault = (
        f"left out of the new session, because {client} would refuse it"
        if are_left_out
        else f"{client} refuses this session"
    )
    return (f"{fault}: {_list(records)}",)


def _list(records: Sequence[RefusedRecord]) -> str:
    texts = [f"line {record.line + 1:,} ({record.reason})" for record in records[:_MAX_RECORDS]]
    n_more = len(records) - len(texts)
    return ", ".join(texts) + (f" and {n_more:,} more" if n_more else "")
