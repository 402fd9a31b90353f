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
        json="json.sessions:sessions_json",
        terminal="terminal.sessions:sessions_screen",
        messages="terminal.sessions:sessions_messages",
    ),
    "RescueResult": Report(
        json="json.rescue:rescue_json",
        terminal="terminal.rescue:rescue_screen",
        messages="terminal.rescue:rescue_messages",
    ),
    "StatsResult": Report(
        json="json.stats:stats_json",
        terminal="terminal.stats:stats_screen",
        messages="terminal.stats:stats_messages",
        page="html.session:stats_page",
    ),
    "CheckResult": Report(
        json="json.check:check_json",
        terminal="terminal.check:check_screen",
        messages="terminal.check:check_messages",
    ),
    "CompactResult": Report(
        json="json.compact:compact_json",
        terminal="terminal.compact:compact_screen",
        messages="terminal.compact:compact_messages",
        page="html.compaction:compact_page",
    ),
    "ViewResult": Report(
        json="json.view:view_json",
        terminal="terminal.view:view_screen",
        messages="terminal.view:view_messages",
    ),
    "ExplainResult": Report(
        json="json.explain:explain_json",
        terminal="terminal.explain:explain_screen",
        messages="terminal.explain:explain_messages",
    ),
    "LogResult": Report(
        json="json.log:log_json",
        terminal="terminal.log:log_screen",
        messages="terminal.log:log_messages",
    ),
    "RewindResult": Report(
        json="json.rewind:rewind_json",
        terminal="terminal.rewind:rewind_screen",
        messages="terminal.rewind:rewind_messages",
    ),
    "ArchivesResult": Report(
        json="json.archives:archives_json",
        terminal="terminal.archives:archives_screen",
        messages="terminal.archives:archives_messages",
    ),
    "VerifyResult": Report(
        json="json.verify:verify_json",
        terminal="terminal.verify:verify_screen",
    ),
    "BatchResult": Report(
        json="json.many.batch:batch_json",
        terminal="terminal.many.batch:batch_screen",
        messages="terminal.many.batch:batch_messages",
        page="html.many:batch_page",
    ),
    "ReportResult": Report(
        json="json.many.report:report_json",
        terminal="terminal.many.report:report_screen",
        messages="terminal.many.report:report_messages",
        page="html.many:report_page",
    ),
    "CacheResult": Report(
        json="json.many.cache:cache_json", terminal="terminal.many.cache:cache_screen"
    ),
    "AuditResult": Report(
        json="json.audit:audit_json",
        terminal="terminal.audit:audit_screen",
        messages="terminal.audit:audit_messages",
    ),
    "SimulateResult": Report(
        json="json.simulate:simulate_json",
        terminal="terminal.simulate:simulate_screen",
        messages="terminal.simulate:simulate_messages",
    ),
    "EvaluateResult": Report(
        json="json.evaluate:evaluate_json",
        terminal="terminal.evaluate:evaluate_screen",
        messages="terminal.evaluate:evaluate_messages",
        page="html.evaluation:evaluate_page",
    ),
    "StagesResult": Report(
        json="json.reference.stages:stages_json",
        terminal="terminal.reference.stages:stages_screen",
    ),
    "ProfilesResult": Report(
        json="json.reference.profiles:profiles_json",
        terminal="terminal.reference.profiles:profiles_screen",
    ),
    "ModelsResult": Report(
        json="json.reference.models:models_json",
        terminal="terminal.reference.models:models_screen",
    ),
    "ConfigResult": Report(
        json="json.reference.config:config_json",
        terminal="terminal.reference.config:config_screen",
    ),
    "IntegrateResult": Report(
        json="json.integrations.integrate:integrate_json",
        terminal="terminal.integrations.integrate:integrate_screen",
        messages="terminal.integrations.integrate:integrate_messages",
    ),
    "HookResult": Report(
        json="json.integrations.hook:hook_json",
        terminal="terminal.integrations.hook:hook_screen",
    ),
    "StatusLineResult": Report(
        json="json.integrations.statusline:statusline_json",
        terminal="terminal.integrations.statusline:statusline_screen",
    ),
    "Overflow": Report(
        json="json.harness.overflow:overflow_json",
        terminal="terminal.harness.overflow:overflow_screen",
    ),
    "PromptResult": Report(
        json="json.harness.prompt:prompt_json",
        terminal="terminal.harness.prompt:prompt_screen",
        messages="terminal.harness.prompt:prompt_messages",
    ),
    "ChunksResult": Report(
        json="json.harness.chunks:chunks_json",
        terminal="terminal.harness.chunks:chunks_screen",
    ),
    "LimitOutputResult": Report(
        json="json.harness.limit_output:limit_output_json",
        terminal="terminal.harness.limit_output:limit_output_screen",
    ),
    "FileBudgetResult": Report(
        json="json.harness.file_budget:file_budget_json",
        terminal="terminal.harness.file_budget:file_budget_screen",
    ),
}


def function_at(place: str) -> Callable[..., Any]:
    """Import and return the function at a place, which is ``module:function``."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
    return found
