"""``file-budget`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.harness.file_budget import FileBudgetResult
from compactctl.reports.rendering.screen import Accent, Fact, Facts, ScreenItem
from compactctl.reports.rendering.tables import number, table, text
from compactctl.reports.rendering.text import one_line, share_text, size_text
from compactctl.reports.rendering.wording import tokens_text
from compactctl.tokens.file_budget import FileVerdict


def file_budget_terminal(result: FileBudgetResult) -> Iterator[ScreenItem]:
    """Yield what to print: a row per file, the budget, then a line per file that is not whole."""
    columns = (
        number("Tokens"),
        text("What fits"),
        number("Whole", spare=3),
        text("Type", spare=2),
        number("Size", spare=1),
        text("File", "start", least=16),
    )
    yield table(columns, map(_file_cells, result.verdicts))
    yield ""
    yield Facts(tuple(_budget_facts(result)))
    for notice in result.notices:
        yield Accent(one_line(notice), "yellow")


def _file_cells(verdict: FileVerdict) -> tuple[str, ...]:
    return (
        f"{verdict.tokens:,}",
        _outcome(verdict),
        f"{verdict.whole_tokens:,}",
        verdict.file.kind,
        size_text(verdict.file.size),
        one_line(verdict.file.name),
    )


def _outcome(verdict: FileVerdict) -> str:
    if verdict.max_chars is None:
        return "nothing" if verdict.outcome == "excluded" else "all of it"
    return f"{verdict.max_chars:,} characters"


def _budget_facts(result: FileBudgetResult) -> Iterator[Fact]:
    budget = result.budget
    yield Fact("window", f"{tokens_text(budget.window)} ({one_line(budget.source)})")
    yield Fact("output reserve", tokens_text(budget.output_reserve))
    yield Fact("used", tokens_text(result.used))
    rest = f"{share_text(result.share)} of what is left"
    yield Fact("for files", f"{tokens_text(result.tokens)}, {rest}")
    yield Fact("needed", f"{tokens_text(result.needed)} (estimated from sizes)")
