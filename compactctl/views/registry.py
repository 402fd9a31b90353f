"""Every output there is, and which function makes which one from which command's result.

Functions are named, as ``module:function`` below this package, and imported when they are called: a
run needs one of them.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PACKAGE = "compactctl.views"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A way to show results.

    ``print`` takes what a report's function returns, and ``error``, whether it goes to standard
    error. ``help`` is what ``--help`` says about the option that asks for it; "" for the output
    that nobody has to ask for.
    """

    print: str
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The functions that make from a result: a field per output, named as in ``OUTPUTS``.

    ``messages`` makes the lines for standard error, whatever the output, and ``page`` a page from
    the result and what is asked of the page; "" when there are none.
    """

    json: str
    terminal: str
    messages: str = ""
    page: str = ""


TERMINAL = "terminal"

OUTPUTS = {
    TERMINAL: Output(print="terminal.screen:print_screen"),
    "json": Output(
        print="encode:print_json",
        help="Print one JSON document on standard output.",
    ),
}

# By the name of the result's type.
REPORTS = {
    "SessionsResult": Report(
        json="results.sessions:sessions_document",
        terminal="results.sessions:sessions_terminal",
        messages="results.sessions:sessions_messages",
    ),
    "RescueResult": Report(
        json="results.compact:rescue_document",
        terminal="results.compact:rescue_terminal",
        messages="results.compact:rescue_messages",
    ),
    "StatsResult": Report(
        json="results.stats:stats_document",
        terminal="results.stats:stats_terminal",
        messages="results.stats:stats_messages",
        page="pages.session:stats_page",
    ),
    "CheckResult": Report(
        json="results.check:check_document",
        terminal="results.check:check_terminal",
        messages="results.check:check_messages",
    ),
    "CompactResult": Report(
        json="results.compact:compact_document",
        terminal="results.compact:compact_terminal",
        messages="results.compact:compact_messages",
        page="pages.compaction:compact_page",
    ),
    "ViewResult": Report(
        json="results.view:view_document",
        terminal="results.view:view_terminal",
        messages="results.view:view_messages",
    ),
    "ExplainResult": Report(
        json="results.explain:explain_document",
        terminal="results.explain:explain_terminal",
        messages="results.explain:explain_messages",
    ),
    "LogResult": Report(
        json="results.log:log_document",
        terminal="results.log:log_terminal",
        messages="results.log:log_messages",
    ),
    "RewindResult": Report(
        json="results.rewind:rewind_document",
        terminal="results.rewind:rewind_terminal",
        messages="results.rewind:rewind_messages",
    ),
    "ArchivesResult": Report(
        json="results.archives:archives_document",
        terminal="results.archives:archives_terminal",
        messages="results.archives:archives_messages",
    ),
    "VerifyResult": Report(
        json="results.archives:verify_document",
        terminal="results.archives:verify_terminal",
    ),
    "BatchResult": Report(
        json="results.batch:batch_document",
        terminal="results.batch:batch_terminal",
        messages="results.batch:batch_messages",
        page="pages.many:batch_page",
    ),
    "ReportResult": Report(
        json="results.report:report_document",
        terminal="results.report:report_terminal",
        messages="results.report:report_messages",
        page="pages.many:report_page",
    ),
    "CacheResult": Report(
        json="results.report:cache_document", terminal="results.report:cache_terminal"
    ),
    "AuditResult": Report(
        json="results.audit:audit_document",
        terminal="results.audit:audit_terminal",
        messages="results.audit:audit_messages",
    ),
    "SimulateResult": Report(
        json="results.simulate:simulate_document",
        terminal="results.simulate:simulate_terminal",
        messages="results.simulate:simulate_messages",
    ),
    "EvaluateResult": Report(
        json="results.evaluate:evaluate_document",
        terminal="results.evaluate:evaluate_terminal",
        messages="results.evaluate:evaluate_messages",
        page="pages.evaluation:evaluate_page",
    ),
    "StagesResult": Report(
        json="results.reference:stages_document",
        terminal="results.reference:stages_terminal",
    ),
    "ProfilesResult": Report(
        json="results.reference:profiles_document",
        terminal="results.reference:profiles_terminal",
    ),
    "ModelsResult": Report(
        json="results.reference:models_document",
        terminal="results.reference:models_terminal",
    ),
    "ConfigResult": Report(
        json="results.reference:config_document",
        terminal="results.reference:config_terminal",
    ),
    "IntegrateResult": Report(
        json="results.clients:integrate_document",
        terminal="results.clients:integrate_terminal",
        messages="results.clients:integrate_messages",
    ),
    "HookResult": Report(
        json="results.clients:hook_document",
        terminal="results.clients:hook_terminal",
    ),
    "StatusLineResult": Report(
        json="results.clients:statusline_document",
        terminal="results.clients:statusline_terminal",
    ),
    "Overflow": Report(
        json="results.harness:overflow_document",
        terminal="results.harness:overflow_terminal",
    ),
    "PromptResult": Report(
        json="results.harness:prompt_document",
        terminal="results.harness:prompt_terminal",
        messages="results.harness:prompt_messages",
    ),
    "ChunksResult": Report(
        json="results.harness:chunks_document",
        terminal="results.harness:chunks_terminal",
    ),
    "LimitOutputResult": Report(
        json="results.harness:limit_output_document",
        terminal="results.harness:limit_output_terminal",
    ),
    "FileBudgetResult": Report(
        json="results.harness:file_budget_document",
        terminal="results.harness:file_budget_terminal",
    ),
}


def function_at(place: str) -> Callable[..., Any]:
    """Import and return the function at a place, which is ``module:function``."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
    return found
