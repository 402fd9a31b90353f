"""Maps each type of result to the file with its views and the prefix of their names.

A view is named after its result and its output: ``log_terminal``, ``log_document``. Views are
imported on demand, because a run needs one or two.
"""

import importlib
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from compactctl.records import Record

PACKAGE = "compactctl.views"


class Output(Record):
    """A way to show results, by the views whose names end in ``suffix``.

    ``print`` takes the return value of such a view, and ``error``: whether to print to standard
    error. ``help`` is the help text of the option that selects this output; "" for the default
    output, which has no option.
    """

    suffix: str
    print: str
    help: str = ""


TERMINAL = "terminal"

OUTPUTS = {
    TERMINAL: Output(suffix="terminal", print="terminal.screen:print_screen"),
    "json": Output(
        suffix="document",
        print="encode:print_json",
        help="Print one JSON document on standard output.",
    ),
}

# By the name of the result's type.
RESULTS = {
    "SessionsResult": "results.sessions:sessions",
    "RescueResult": "results.compact:rescue",
    "StatsResult": "results.stats:stats",
    "CheckResult": "results.check:check",
    "CompactResult": "results.compact:compact",
    "ViewResult": "results.view:view",
    "ExplainResult": "results.explain:explain",
    "LogResult": "results.log:log",
    "RewindResult": "results.rewind:rewind",
    "ArchivesResult": "results.archives:archives",
    "VerifyResult": "results.archives:verify",
    "BatchResult": "results.batch:batch",
    "ReportResult": "results.report:report",
    "CacheResult": "results.cache:cache",
    "AuditResult": "results.audit:audit",
    "SimulateResult": "results.simulate:simulate",
    "EvaluateResult": "results.evaluate:evaluate",
    "StagesResult": "results.reference:stages",
    "ProfilesResult": "results.reference:profiles",
    "ModelsResult": "results.reference:models",
    "ConfigResult": "results.reference:config",
    "IntegrateResult": "results.clients:integrate",
    "HookResult": "results.clients:hook",
    "StatusLineResult": "results.clients:statusline",
    "Overflow": "results.harness:overflow",
    "PromptResult": "results.harness:prompt",
    "ChunksResult": "results.harness:chunks",
    "LimitOutputResult": "results.harness:limit_output",
    "FileBudgetResult": "results.harness:file_budget",
}
# A page is a function in ``pages`` with a template beside it, which has to escape all values. Its
# command takes the option ``PAGE`` and checks it with ``checked_page``.
PAGES = {
    "StatsResult": "pages.session:stats",
    "CompactResult": "pages.compaction:compact",
    "BatchResult": "pages.many:batch",
    "ReportResult": "pages.many:report",
    "EvaluateResult": "pages.evaluation:evaluate",
}


def make_view(result: object, output: Output) -> object:
    """Return the value that an output prints for a result."""
    return function_at(f"{RESULTS[type(result).__name__]}_{output.suffix}")(result)


def messages_of(result: object) -> Iterable[str]:
    """Return a result's lines for standard error; they are the same for every output."""
    module, _, name = RESULTS[type(result).__name__].partition(":")
    lines: Iterable[str] = getattr(_module(module), f"{name}_messages", _silent)(result)
    return lines


def make_page(result: object, options: object) -> str:
    """Return a result as a page, with the options in ``options``."""
    page: str = function_at(f"{PAGES[type(result).__name__]}_page")(result, options)
    return page


def function_at(place: str) -> Callable[..., Any]:
    """Import and return a function, given as ``module:function``."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(_module(module), name)
    return function


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.{name}")


def _silent(_result: object) -> Iterable[str]:
    return ()
