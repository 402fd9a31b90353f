"""Whether a client accepts a new session with the records in it."""

from collections.abc import Container, Iterable

from compactctl.errors import NotUnderstoodError, OutputFaultError
from compactctl.model.transcript import RefusedRecord


def check_accepted(
    path: str, records: Iterable[RefusedRecord], before: Container[str] | None = None
) -> None:
    """Raise an error for the first record for which a client refuses a new session.

    It is an OutputFaultError if its reason is not among those of the records ``before``, None if
    these are the records of the input, and NotUnderstoodError otherwise.
    """
    for record in (record for record in records if record.is_fatal):
        if before is not None and record.reason not in before:
            raise OutputFaultError(
                f"{path}: compactctl made a mistake: {record.client} refuses the new session "
                f"({record.reason}); nothing was written, and this file is not at fault; please "
                "report this"
            )
        raise NotUnderstoodError(
            f"{path}: line {record.line + 1}: {record.client} refuses a session with this "
            f"record ({record.reason}), which may be sent; no new session was written; correct "
            "the line, or write elsewhere with -o"
        )
