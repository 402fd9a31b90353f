"""Compacts lines that are in memory; what is taken out is gone, but for the caller's own lines."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compactctl.commands.loading.load import InputOptions, loaded_from
from compactctl.commands.loading.verify_output import meant_by, prove_layout
from compactctl.commands.planning.plan import Plan, Recipe, make_plan
from compactctl.commands.planning.run_stages import PlanOutcome, run_all, size_to_reach
from compactctl.commands.sizing.measure import Measure, measure
from compactctl.model.summary import Summarizer
from compactctl.model.transcript import Opaque, Transcript
from compactctl.pipeline.apply import fold
from compactctl.pipeline.layout import LayoutStyle, NewLine, lay_out
from compactctl.store.files.lines import Source, digest_of
from compactctl.tokens.fit import size_limit


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedLines:
    """What is left: each line knows whether it is one that was given.

    ``transcript`` is what was read, ``measured`` what it was measured with, and ``outcome`` what
    the stages of ``plan`` came to.
    """

    lines: tuple[NewLine, ...]
    transcript: Transcript
    measured: Measure
    plan: Plan
    outcome: PlanOutcome

    @property
    def tokens_before(self) -> int:
        """Tokens of all conversations that were given."""
        return self.outcome.tokens_before

    @property
    def tokens_after(self) -> int:
        """Tokens of what is left of them."""
        return self.outcome.tokens_after

    @property
    def limit(self) -> int:
        """The size to reach in tokens: the target within the window, or what gates refer to."""
        return size_limit(size_to_reach(self.plan, self.outcome), self.measured.limits)

    @property
    def largest_after(self) -> int:
        """Tokens of the largest next request."""
        return self.outcome.request_after.tokens

    @property
    def fits(self) -> bool:
        """Whether every conversation is within the limit."""
        return self.largest_after <= self.limit

    @property
    def opaque(self) -> tuple[Opaque, ...]:
        """What was carried without being understood."""
        return self.transcript.opaque


def compact_lines(
    lines: Sequence[bytes],
    options: InputOptions,
    recipe: Recipe,
    summarizer: Summarizer | None = None,
) -> CompactedLines:
    """Return the lines that are left, without tags; the path in ``options`` is what errors call it.

    Raises NotUnderstoodError for lines that are not a transcript, UsageError for options that mean
    nothing, IntegrityError when the new lines would not read back as the stages meant them.
    """
    source = Source(path=None, lines=lines, digest=digest_of(lines))
    loaded = loaded_from(source, options.path, options.format)
    measured = measure(loaded.transcript, recipe.measure)
    plan = replace(make_plan(recipe, measured.limits), summarizer=summarizer)
    outcome = run_all(loaded.transcript, plan, measured, recipe.protect, originals={})
    style = LayoutStyle(tags=False)
    edits = fold(outcome.edits)
    made = tuple(lay_out(loaded.lines, loaded.transcript, edits, loaded.format, style))
    prove_layout([line.data for line in made], loaded.format, meant_by(outcome.after), options.path)
    return CompactedLines(
        lines=made,
        transcript=loaded.transcript,
        measured=measured,
        plan=plan,
        outcome=outcome,
    )
