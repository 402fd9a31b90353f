"""Decides how much of which files fits into the remaining window."""

from collections.abc import Callable, Sequence
from pathlib import Path

from compactctl.asks import MAY, MEASURED, POLICY, ask, flag
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.errors import UsageError
from compactctl.model.bounds import Share
from compactctl.model.transcript import Transcript
from compactctl.records import Record, field
from compactctl.store.files.source import size_and_head
from compactctl.tokens.budget import Budget
from compactctl.tokens.file_budget import (
    DEFAULT_SHARE,
    FileAllocation,
    FileSize,
    allocate_in_order,
    allocate_proportionally,
    allocate_separately,
    allocate_whole_files,
    file_budget,
    file_type,
)
from compactctl.tokens.models.token_sizes import parse_token_size

_NO_TRANSCRIPT = Transcript(format="", n_lines=0, n_bytes=0, messages=(), effective=())


class FileBudgetOptions(Record):
    """The files, in order of priority, and the budget that they must fit into."""

    paths: tuple[str, ...]
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    used: str = ask("0", "Tokens already in use, e.g. 50k.", MEASURED, MAY, metavar="TOKENS")
    share: Share | None = ask(
        None,
        "Share of the remaining tokens that files may use. [default: that of the profile, 0.6]",
        POLICY,
        MAY,
        metavar="SHARE",
    )
    aggregate: bool = flag("Include only whole files, smallest first.", POLICY, MAY)
    proportional: bool = flag("If not all files fit, cut each to the same share.", POLICY, MAY)
    neurolink: bool = flag(
        "Judge each file on its own, as NeuroLink does: below 102,400 bytes whole, above 5 MB "
        "2,000 characters, else what fits in the whole budget, but at least 2,000 characters.",
        POLICY,
        MAY,
    )


class FileBudgetResult(Record):
    """The window, its part for files (``tokens``), and the verdict on each file.

    ``used`` and ``share`` are those in effect.
    """

    options: FileBudgetOptions
    budget: Budget
    used: int
    share: float
    tokens: int
    verdicts: tuple[FileAllocation, ...]

    @property
    def needed(self) -> int:
        """The tokens of all parts of files that fit."""
        return sum(verdict.tokens for verdict in self.verdicts)

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about files that are not whole."""
        return tuple(verdict.notice for verdict in self.verdicts if verdict.notice)


def budget_files(options: FileBudgetOptions) -> FileBudgetResult:
    """Judge files by their sizes. Raises NoInputError, UsageError."""
    judge = _judge(options)
    budget = measure(_NO_TRANSCRIPT, options.measure).budget
    used = _tokens(options.used)
    share = _share(options)
    tokens = file_budget(budget.window, used, budget.output_reserve, share)
    return FileBudgetResult(
        options=options,
        budget=budget,
        used=used,
        share=share,
        tokens=tokens,
        verdicts=judge([_file(path) for path in options.paths], tokens),
    )


def _share(options: FileBudgetOptions) -> float:
    if options.share is not None:
        return options.share
    profile = options.measure.profile
    return profile.file_share if profile else DEFAULT_SHARE


def _judge(
    options: FileBudgetOptions,
) -> Callable[[Sequence[FileSize], int], tuple[FileAllocation, ...]]:
    """Return the rule by which the budget is shared out."""
    rules = (
        (options.aggregate, allocate_whole_files),
        (options.proportional, allocate_proportionally),
        (options.neurolink, allocate_separately),
    )
    return next((rule for is_chosen, rule in rules if is_chosen), allocate_in_order)


def _file(path: str) -> FileSize:
    size, head = size_and_head(path)
    return FileSize(name=path, size=size, kind=file_type(Path(path).name, head))


def _tokens(text: str) -> int:
    """Parse a number of tokens, which may be 0."""
    if text.strip() == "0":
        return 0
    size = parse_token_size(text)
    if size is None or size.denominator != 1:
        raise UsageError(f"--used {text}: not a number of tokens; write it as 50000 or 50k")
    return size.numerator
