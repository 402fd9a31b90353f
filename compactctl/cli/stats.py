"""Commands about the size of a context: ``compactctl stats``, ``check``."""

from typing import TYPE_CHECKING

from compactctl.cli.command import command, emit, shown_command, working
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup, beside
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import EXTRAS, FAIL_BASE, FAIL_OVER, MEASURE, PROFILE
from compactctl.cli.options.output import MASKED_PAGE, SHOWN_AS, checked_page
from compactctl.cli.options.reading import FORMAT, LIMITS, STRICT
from compactctl.commands.inspect.check import CheckOptions, CheckResult, check
from compactctl.commands.inspect.stats import StatsOptions, StatsResult, stats
from compactctl.errors import GATE_FAILED, NotUnderstoodError
from compactctl.records import replace

if TYPE_CHECKING:
    from compactctl.commands.page_choice import PageChoice


_STATS_HELP = Help(
    """Show token usage by category, against the model's window.

FILE is a transcript, a session (compactctl sessions), or - for standard input; by default, the only
transcript in this folder, else its newest session. The table adds up to the next request: what the
transcript holds, and what the client sends beside it.
""",
    examples=(
        "compactctl stats run.jsonl",
        "compactctl stats latest --details",
        "compactctl stats run.jsonl --fail-over 80%",
    ),
    usual=(
        "--model", "--window", "--profile", "--scope", "--rounds", "--graph", "--prices",
        "--details", "--top", "--html", "--fail-over", "--json",
    ),
)  # fmt: skip


@shown_command(
    StatsOptions,
    file_argument(),
    FORMAT,
    LIMITS,
    MEASURE,
    PROFILE,
    *asked(StatsOptions, "scope"),
    EXTRAS,
    *asked(StatsOptions, without=("scope", "force")),
    beside(MASKED_PAGE),
    *asked(StatsOptions, "force"),
    beside(FAIL_OVER),
    FAIL_BASE,
    STRICT,
    SHOWN_AS,
    help=_STATS_HELP,
)
def stats_command(
    options: StatsOptions,
    *,
    page: "PageChoice | None",
    fail_over: float | None,
    shown_as: str,
) -> int:
    """Run ``compactctl stats``."""
    options = replace(options, timeline=page is not None)
    path, force = options.input.path, options.force
    page = checked_page(page, filter(None, (path, options.rounds_out)), force=force)
    with working("measuring", path, shown_as):
        result = _with_rows(stats(options))
    emit(result, shown_as, page=page)
    return _gate(result, fail_over)


def _with_rows(result: StatsResult) -> StatsResult:
    """Write a row per round if requested. Raises as ``write_rounds`` does."""
    options = result.options
    if options.rounds_out is None or result.rounds is None:
        return result
    from compactctl.views.results.rounds import write_rounds

    warnings = write_rounds(result.rounds, result.costs, options.rounds_out, force=options.force)
    return replace(result, warnings=(*result.warnings, *warnings))


def _gate(result: StatsResult, fail_over: float | None) -> int:
    if fail_over is None:
        return 0
    usage = result.usage
    if not usage.exceeds(fail_over):
        return NotUnderstoodError.exit_code if result.unread else 0
    from compactctl.views.facts import base_text
    from compactctl.views.terminal.screen import print_messages
    from compactctl.views.terminal.text import share_beyond

    base = base_text(result.measure.limits)
    if usage.available:
        used, limit = share_beyond(usage.ratio, fail_over)
        print_messages(f"over the limit: {used} of {base} is more than {limit}")
    else:
        print_messages(f"over the limit: {usage.tokens:,} tokens, but {base} is 0")
    return GATE_FAILED


_CHECK_HELP = Help(
    """Exit 1 if the next request is refused or compaction is due.

FILE is a transcript, a session (compactctl sessions), or - for standard input; by default, the only
transcript in this folder, else its newest session. Lists what the provider or the client refuses,
with its line; then measures the request as stats does and evaluates the trigger. Exit 4 if too much
of the file is not recognized to tell.
""",
    examples=(
        "compactctl check run.jsonl",
        "compactctl check latest --trigger 60%",
    ),
    usual=(
        "--trigger", "--profile", "--model", "--window", "--fail-base", "--strict",
        "--json",
    ),
)  # fmt: skip


@command(
    CheckOptions,
    OptGroup("stats", file_argument(), PROFILE),
    *asked(CheckOptions),
    OptGroup(
        "stats",
        FAIL_BASE,
        FORMAT,
        LIMITS,
        MEASURE,
        EXTRAS,
        STRICT,
    ),
    SHOWN_AS,
    help=_CHECK_HELP,
    doing="measuring",
    reads="stats.input.path",
)
def check_command(options: CheckOptions) -> CheckResult:
    """Run ``compactctl check``."""
    return check(options)
