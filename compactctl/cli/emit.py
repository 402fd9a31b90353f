"""The one place where a command's result is printed, in whichever output was asked for."""

from collections.abc import Iterable

from compactctl.reports.registry import OUTPUTS, REPORTS, function_at


def emit(result: object, shown_as: str, *, piped: Iterable[bytes] | None = None) -> None:
    """Print what a result's type has in ``REPORTS``: its report, then its messages.

    ``shown_as`` is a name of ``OUTPUTS``. ``piped`` are the pieces of a transcript that standard
    output takes; the report goes to standard error then. Messages always do.
    """
    report = REPORTS[type(result).__name__]
    made = function_at(getattr(report, shown_as))(result)
    function_at(OUTPUTS[shown_as].print)(made, error=piped is not None)
    if piped is not None:
        from compactctl.reports.rendering.screen import write_bytes

        write_bytes(piped)
    if report.messages:
        from compactctl.reports.rendering.screen import tell

        tell(*function_at(report.messages)(result))
