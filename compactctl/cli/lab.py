"""Commands that try policies on recorded sessions: ``compactctl lab simulate``, ``eval``."""

from compactctl.cli.command import command, emit, shown_command
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup
from compactctl.cli.options.arguments import NEEDED_FILE, paths_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import MEASURE
from compactctl.cli.options.output import FORCE, PAGE, SHOWN_AS
from compactctl.cli.options.planning import stage_options
from compactctl.cli.options.reading import FORMAT, LIMITS, STRICT
from compactctl.commands.lab.eval_session import CutOptions
from compactctl.commands.lab.evaluate import EvaluateOptions, EvaluateResult, evaluate
from compactctl.commands.lab.simulate import SimulateOptions, SimulateResult, simulate
from compactctl.records import replace
from compactctl.stages.registry import ALL_STAGES

_SIMULATE_HELP = Help(
    """Show when each profile would have compacted, and to what size.

FILE is a transcript, a session (compactctl sessions), or - for standard input. Replays its largest
conversation request by request. When a profile's trigger fires, its stages run, and the
conversation continues with the result. Nothing is written.
""",
    examples=(
        "compactctl lab simulate run.jsonl",
        "compactctl lab simulate latest --profile neurolink --prices builtin",
    ),
    usual=(
        "--profile", "--scope", "--prices", "--model", "--window", "--json",
    ),
)  # fmt: skip


@command(
    SimulateOptions,
    NEEDED_FILE,
    *asked(SimulateOptions),
    FORMAT,
    LIMITS,
    MEASURE,
    STRICT,
    SHOWN_AS,
    help=_SIMULATE_HELP,
    doing="simulating",
)
def simulate_command(options: SimulateOptions) -> SimulateResult:
    """Run ``compactctl lab simulate``."""
    return simulate(options)


_EVAL_HELP = Help(
    """Measure how much of what a session needed later survives compaction.

FILES are transcripts, folders, quoted globs, and sessions (an id, latest, or claude: for all of a
client). Each session is cut before a request. Policies compact the first part; the second shows
what was needed: names the agent used again, what it wrote again word for word, rules, requests,
errors, commands, files, tasks. Controls of at most the same size show what chance keeps. This is an
upper bound: the words are still in the context, but the model may not recall them.
""",
    examples=(
        "compactctl lab eval session.jsonl",
        "compactctl lab eval runs/ --profile neurolink,opencode --keep 0.3",
        "compactctl lab eval runs/ --gate 'recall>=0.95@0.3' --gate 'words>=0.7@0.3'",
    ),
    usual=(
        "--profile", "--stages", "--keep", "--at", "--every", "--gate", "--baseline",
        "--report", "--html", "--json",
    ),
)  # fmt: skip


@shown_command(
    EvaluateOptions,
    paths_argument("FILES...", required=True),
    *asked(EvaluateOptions, "profiles", "stages", "planned"),
    OptGroup("session", *asked(CutOptions, "at", "every")),
    *asked(EvaluateOptions, "keep", "gates", "baseline", "answers", "answers_timeout"),
    OptGroup("session", *asked(CutOptions, "seed")),
    *asked(EvaluateOptions, "report", "plot"),
    PAGE,
    FORCE,
    OptGroup("session", FORMAT, LIMITS, MEASURE, STRICT),
    SHOWN_AS,
    stage_options(*ALL_STAGES),
    help=_EVAL_HELP,
)
def eval_command(options: EvaluateOptions, *, shown_as: str) -> int:
    """Run ``compactctl lab eval``."""
    from compactctl.views.terminal.progress import BatchProgress

    with BatchProgress() as progress:
        result = evaluate(options, progress.tell)
    result = _write_files(result)
    emit(result, shown_as, page=options.page and replace(options.page, force=options.force))
    return result.exit_code


def _write_files(result: EvaluateResult) -> EvaluateResult:
    """Write the requested files. Raises as ``write_report`` and ``write_plot`` do."""
    report, plot, force = result.options.report, result.options.plot, result.options.force
    warnings: tuple[str, ...] = ()
    if report is not None:
        from compactctl.views.results.evaluate import write_report

        warnings += write_report(result, report, force=force)
    if plot is not None:
        from compactctl.views.results.evaluate import write_plot

        warnings += write_plot(result, plot, force=force)
    written = tuple(path for path in (report, plot) if path is not None)
    return replace(result, written=written, warnings=(*result.warnings, *warnings))
