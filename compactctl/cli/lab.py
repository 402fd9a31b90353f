"""Commands that try policies on recorded sessions: ``compactctl lab simulate``, ``eval``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from compactctl.asks import (
    CUT,
    GATES,
    MAY,
    MEASURED,
    OUTPUT,
    POLICY,
    READS,
    SUMMARIZES,
    WRITES,
)
from compactctl.cli.command import command, emit, shown_command
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup, ParsedText, beside, opt
from compactctl.cli.options.arguments import NEEDED_FILE, paths_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import MEASURE
from compactctl.cli.options.output import FORCE, PAGE, SHOWN_AS, checked_page
from compactctl.cli.options.planning import plan_option, read_plan_option, stage_options
from compactctl.cli.options.reading import FORMAT, LIMITS, STRICT
from compactctl.commands.lab.eval_figures import parse_gate, read_baseline
from compactctl.commands.lab.eval_session import policies_of
from compactctl.commands.lab.evaluate import EvaluateOptions, EvaluateResult, evaluate
from compactctl.commands.lab.simulate import SimulateOptions, SimulateResult, simulate
from compactctl.commands.output_files import check_report
from compactctl.commands.planning.plan import StageSettings, stage_list
from compactctl.commands.reading.discover import FileChoice, discover
from compactctl.records import replace
from compactctl.stages.registry import ALL_STAGES
from compactctl.tokens.budget import parse_share

if TYPE_CHECKING:
    from compactctl.commands.lab.eval_session import Answering
    from compactctl.commands.output_files import PageChoice


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


def shares(text: str) -> tuple[float, ...]:
    """Parse shares separated by commas; return them largest first. Raises UsageError."""
    return tuple(sorted({parse_share(share) for share in text.split(",")}, reverse=True))


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


@shown_command(
    EvaluateOptions,
    paths_argument("FILES...", required=True),
    beside(
        opt(
            "profiles",
            POLICY,
            MAY,
            "Evaluate these profiles (repeatable). [default: default]",
            flag="--profile",
            path="settings",
            metavar="A,B,...",
            multiple=True,
        ),
        opt(
            "stages",
            POLICY,
            MAY,
            "Evaluate these stages in this order (repeatable).",
            type=ParsedText(stage_list),
            metavar="LIST",
            multiple=True,
        ),
        plan_option(
            "Evaluate this plan, which compact --plan-out wrote when the session was shorter. The "
            "session is cut where it ended then."
        ),
    ),
    OptGroup(
        "session",
        opt(
            "at",
            CUT,
            MAY,
            "Cut a session after these shares of its requests.",
            type=ParsedText(shares),
            metavar="SHARES",
            default="0.6",
            show_default=True,
        ),
        opt(
            "every",
            CUT,
            MAY,
            "Cut after every N tokens instead.",
            type=click.IntRange(min=1),
            metavar="N",
        ),
    ),
    opt(
        "keep",
        POLICY,
        MAY,
        "Keep these shares of the conversation before the cut: of all messages except system "
        "prompt and tool definitions.",
        type=ParsedText(shares),
        metavar="SHARES",
        default="0.5,0.3,0.1",
        show_default=True,
    ),
    opt(
        "gates",
        GATES,
        MAY,
        "Exit 1 unless every profile meets this: a measure, a minimum (or <= a maximum), and the "
        "share it is for, e.g. recall>=0.95@0.3 (repeatable).",
        flag="--gate",
        type=ParsedText(parse_gate),
        metavar="LIMIT",
        multiple=True,
    ),
    beside(
        opt(
            "baseline",
            GATES,
            READS,
            "Exit 1 if a measure is 0.02 below this earlier output of --json.",
            path="settings",
            metavar="FILE",
        ),
        opt(
            "answers",
            GATES,
            SUMMARIZES,
            "Answer questions about each context with this command: context and question on stdin, "
            "answer on stdout.",
            metavar="CMD",
        ),
        opt(
            "answers_timeout",
            GATES,
            SUMMARIZES,
            "Time limit for an answer.",
            type=click.IntRange(min=1),
            metavar="SECONDS",
            default=60,
            show_default=True,
        ),
    ),
    OptGroup(
        "session",
        opt(
            "seed",
            MEASURED,
            MAY,
            "Seed for random lines and for intervals.",
            type=int,
            metavar="N",
            default=0,
            show_default=True,
        ),
    ),
    beside(
        opt(
            "report",
            OUTPUT,
            WRITES,
            "Write a row per context to this Parquet file.",
            path="here",
            metavar="FILE",
        ),
        opt(
            "plot",
            OUTPUT,
            WRITES,
            "Draw recall against tokens kept into this SVG file.",
            path="here",
            metavar="FILE",
        ),
        PAGE,
        FORCE,
    ),
    OptGroup("session", FORMAT, LIMITS, MEASURE, STRICT),
    SHOWN_AS,
    beside(stage_options(*ALL_STAGES)),
    help=_EVAL_HELP,
)
def eval_command(
    options: EvaluateOptions,
    *,
    profiles: tuple[str, ...],
    stages: tuple[tuple[str, ...], ...],
    planned: str | None,
    baseline: str | None,
    answers: str | None,
    answers_timeout: int,
    report: str | None,
    plot: str | None,
    page: "PageChoice | None",
    force: bool,
    settings: StageSettings,
    shown_as: str,
) -> int:
    """Run ``compactctl lab eval``."""
    plan = read_plan_option(planned)
    options = replace(
        options,
        policies=policies_of(_names(profiles), stages, settings, plan),
        baseline=None if baseline is None else read_baseline(baseline),
        session=replace(
            options.session, planned=plan, answering=_answering(answers, answers_timeout)
        ),
    )
    inputs = discover(FileChoice(paths=options.paths))
    reserved = [*(item.path for item in inputs), *filter(None, (planned,))]
    for path in filter(None, (report, plot)):
        check_report(path, reserved, force=force)
        reserved.append(path)
    page = checked_page(page, reserved, force=force)
    result = _write_files(_evaluated(options), report=report, plot=plot, force=force)
    emit(result, shown_as, page=page)
    return result.exit_code


def _answering(command_line: str | None, timeout: int) -> "Answering | None":
    if command_line is None:
        return None
    from compactctl.llm.command import command_answerer

    return command_answerer(command_line, timeout)


def _evaluated(options: EvaluateOptions) -> EvaluateResult:
    from compactctl.views.terminal.progress import BatchProgress

    with BatchProgress() as progress:
        return evaluate(options, progress.tell)


def _write_files(
    result: EvaluateResult, *, report: str | None, plot: str | None, force: bool
) -> EvaluateResult:
    """Write the requested files. Raises as ``write_trials`` and ``write_plot`` do."""
    warnings: tuple[str, ...] = ()
    if report is not None:
        from compactctl.views.results.evaluate import write_trials

        warnings += write_trials(result.trials, report, force=force)
    if plot is not None:
        from compactctl.views.results.evaluate import write_plot

        warnings += write_plot(result, plot, force=force)
    written = tuple(path for path in (report, plot) if path is not None)
    return replace(result, written=written, warnings=warnings)
