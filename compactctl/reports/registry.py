"""Every output there is, and which function makes which one from which command's result.

Functions are named, as ``module:function`` below this package, and imported when they are called: a
run needs one of them.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PACKAGE = "compactctl.reports"


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
    TERMINAL: Output(print="rendering.screen:print_screen"),
    "json": Output(
        print="rendering.json_document:print_json",
        help="Print one JSON document on standard output.",
    ),
}

# By the name of the result's type.
REPORTS = {
    "SessionsResult": Report(
        json="json.sessions:sessions_document",
        terminal="terminal.sessions:sessions_terminal",
        messages="terminal.sessions:sessions_messages",
    ),
    "RescueResult": Report(
        json="json.rescue:rescue_document",
        terminal="terminal.rescue:rescue_terminal",
        messages="terminal.rescue:rescue_messages",
    ),
    "StatsResult": Report(
        json="json.stats:stats_document",
        terminal="terminal.stats:stats_terminal",
        messages="terminal.stats:stats_messages",
        page="html.session:stats_page",
    ),
    "CheckResult": Report(
        json="json.check:check_document",
        terminal="terminal.check:check_terminal",
        messages="terminal.check:check_messages",
    ),
    "CompactResult": Report(
        json="json.compact:compact_document",
        terminal="terminal.compact:compact_terminal",
        messages="terminal.compact:compact_messages",
        page="html.compaction:compact_page",
    ),
    "ViewResult": Report(
        json="json.view:view_document",
        terminal="terminal.view:view_terminal",
        messages="terminal.view:view_messages",
    ),
    "ExplainResult": Report(
        json="json.explain:explain_document",
        terminal="terminal.explain:explain_terminal",
        messages="terminal.explain:explain_messages",
    ),
    "LogResult": Report(
        json="json.log:log_document",
        terminal="terminal.log:log_terminal",
        messages="terminal.log:log_messages",
    ),
    "RewindResult": Report(
        json="json.rewind:rewind_document",
        terminal="terminal.rewind:rewind_terminal",
        messages="terminal.rewind:rewind_messages",
    ),
    "ArchivesResult": Report(
        json="json.archives:archives_document",
        terminal="terminal.archives:archives_terminal",
        messages="terminal.archives:archives_messages",
    ),
    "VerifyResult": Report(
        json="json.verify:verify_document",
        terminal="terminal.verify:verify_terminal",
    ),
    "BatchResult": Report(
        json="json.many.batch:batch_document",
        terminal="terminal.many.batch:batch_terminal",
        messages="terminal.many.batch:batch_messages",
        page="html.many:batch_page",
    ),
    "ReportResult": Report(
        json="json.many.report:report_document",
        terminal="terminal.many.report:report_terminal",
        messages="terminal.many.report:report_messages",
        page="html.many:report_page",
    ),
    "CacheResult": Report(
        json="json.many.cache:cache_document", terminal="terminal.many.cache:cache_terminal"
    ),
    "AuditResult": Report(
        json="json.audit:audit_document",
        terminal="terminal.audit:audit_terminal",
        messages="terminal.audit:audit_messages",
    ),
    "SimulateResult": Report(
        json="json.simulate:simulate_document",
        terminal="terminal.simulate:simulate_terminal",
        messages="terminal.simulate:simulate_messages",
    ),
    "EvaluateResult": Report(
        json="json.evaluate:evaluate_document",
        terminal="terminal.evaluate:evaluate_terminal",
        messages="terminal.evaluate:evaluate_messages",
        page="html.evaluation:evaluate_page",
    ),
    "StagesResult": Report(
        json="json.reference.stages:stages_document",
        terminal="terminal.reference.stages:stages_terminal",
    ),
    "ProfilesResult": Report(
        json="json.reference.profiles:profiles_document",
        terminal="terminal.reference.profiles:profiles_terminal",
    ),
    "ModelsResult": Report(
        json="json.reference.models:models_document",
        terminal="terminal.reference.models:models_terminal",
    ),
    "ConfigResult": Report(
        json="json.reference.config:config_document",
        terminal="terminal.reference.config:config_terminal",
    ),
    "IntegrateResult": Report(
        json="json.integrations.integrate:integrate_document",
        terminal="terminal.integrations.integrate:integrate_terminal",
        messages="terminal.integrations.integrate:integrate_messages",
    ),
    "HookResult": Report(
        json="json.integrations.hook:hook_document",
        terminal="terminal.integrations.hook:hook_terminal",
    ),
    "StatusLineResult": Report(
        json="json.integrations.statusline:statusline_document",
        terminal="terminal.integrations.statusline:statusline_terminal",
    ),
    "Overflow": Report(
        json="json.harness.overflow:overflow_document",
        terminal="terminal.harness.overflow:overflow_terminal",
    ),
    "PromptResult": Report(
        json="json.harness.prompt:prompt_document",
        terminal="terminal.harness.prompt:prompt_terminal",
        messages="terminal.harness.prompt:prompt_messages",
    ),
    "ChunksResult": Report(
        json="json.harness.chunks:chunks_document",
        terminal="terminal.harness.chunks:chunks_terminal",
    ),
    "LimitOutputResult": Report(
        json="json.harness.limit_output:limit_output_document",
        terminal="terminal.harness.limit_output:limit_output_terminal",
    ),
    "FileBudgetResult": Report(
        json="json.harness.file_budget:file_budget_document",
        terminal="terminal.harness.file_budget:file_budget_terminal",
    ),
}


def function_at(place: str) -> Callable[..., Any]:
    """Import and return the function at a place, which is ``module:function``."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
    return found
