"""The one place where a command's work and result are shown, in whichever output was asked for."""

from collections.abc import Iterable

from compactctl.reports.html.choice import PageChoice
from compactctl.reports.registry import OUTPUTS, REPORTS, TERMINAL, function_at
from compactctl.reports.rendering.progress import WorkProgress


def working(what: str, path: str, shown_as: str) -> WorkProgress:
    """Say what is being done with a file while it is, on a terminal that the result is for."""
    return WorkProgress(what, path, wanted=shown_as == TERMINAL)


def emit(
    result: object,
    shown_as: str,
    *,
    piped: Iterable[bytes] | None = None,
    page: PageChoice | None = None,
) -> None:
    """Print what a result's type has in ``REPORTS``: its report, then its messages.

    ``shown_as`` is a name of ``OUTPUTS``. ``piped`` are the pieces of a transcript that standard
    output takes; the report goes to standard error then. Messages always do. ``page`` is written
    before anything is printed; raises as ``write_page`` does.
    """
    report = REPORTS[type(result).__name__]
    written = () if page is None else _written(function_at(report.page)(result, page), page)
    made = function_at(getattr(report, shown_as))(result)
    function_at(OUTPUTS[shown_as].print)(made, error=piped is not None)
    if piped is not None:
        from compactctl.reports.rendering.screen import write_bytes

        write_bytes(piped)
    if report.messages:
        from compactctl.reports.rendering.screen import tell

        tell(*function_at(report.messages)(result), *written)


def _written(made: str, page: PageChoice) -> tuple[str, ...]:
    """Write a page; return what to say about it."""
    from compactctl.reports.html.page import write_page
    from compactctl.reports.rendering.text import line_text, size_text

    warnings = write_page(made, page)
    size = size_text(len(made.encode("utf-8", "backslashreplace")))
    told = f"wrote {line_text(page.path)} (a page of {size}; open it in a browser)"
    return (*(f"warning: {line_text(each)}" for each in warnings), told)
