"""Compacts lines that are in memory; what is taken out is gone, but for the caller's own lines."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.commands.measuring.measure import Measurement, measure
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.planning.run_stages import StageInputs, StageRun, run_stages
from compactctl.commands.reading.proof import expected_messages, prove_layout
from compactctl.commands.reading.transcript import InputOptions, loaded_from
from compactctl.errors import UsageError
from compactctl.model.summary import Summarizer
from compactctl.model.transcript import Opaque, Transcript
from compactctl.pipeline.apply import net_edits
from compactctl.pipeline.layout import LayoutOptions, NewLine, lay_out
from compactctl.store.files.parquet_dataset import is_text
from compactctl.store.files.source import Source, digest_of
from compactctl.tokens.fit import size_limit


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedLines:
    """What is left: each line knows whether it is one that was given.

    ``transcript`` is what was read, ``measured`` what it was measured with, and ``run`` what the
    stages came to.
    """

    lines: tuple[NewLine, ...]
    transcript: Transcript
    measured: Measurement
    run: StageRun

    @property
    def tokens_before(self) -> int:
        """Tokens of all conversations that were given."""
        return self.run.outcome.before.tokens

    @property
    def tokens_after(self) -> int:
        """Tokens of what is left of them."""
        return self.run.outcome.after.tokens

    @property
    def limit(self) -> int:
        """The size to reach in tokens: the target within the window, or what gates refer to."""
        return size_limit(self.run.outcome.target, self.measured.limits)

    @property
    def largest_after(self) -> int:
        """Tokens of the largest next request."""
        return self.run.outcome.after.request_tokens

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
    plan = make_plan(recipe, measured.limits)
    inputs = StageInputs(summarizer=summarizer, texts=recipe.plan.texts)
    done = run_stages(loaded.transcript, plan, measured, inputs)
    style = LayoutOptions(tags=False)
    edits = net_edits(done.applied.edits)
    made = tuple(lay_out(loaded.lines, loaded.transcript, edits, loaded.format, style))
    expected = expected_messages(done.applied.after)
    prove_layout([line.data for line in made], loaded.format, expected, options.path)
    return CompactedLines(
        lines=made,
        transcript=loaded.transcript,
        measured=measured,
        run=done,
    )


def lines_of(value: Any, kind: Any) -> list[bytes]:  # noqa: ANN401 - a row holds any value
    """Return the raw lines of a conversation: a text as it is, or a line per struct.

    ``kind`` is the column's Arrow type. Fields of structs that are null are absent from the lines.
    """
    if is_text(kind):
        return [value.encode("utf-8", "surrogatepass")]
    return [json.dumps(without_nulls(message)).encode() + b"\n" for message in value]


def value_of(value: Any, kind: Any, made: CompactedLines) -> Any:  # noqa: ANN401
    """Return what was made of a conversation as a value of the same column.

    Of a text only what changes is written anew. UsageError where the column's type has no place
    for what compaction writes.
    """
    if is_text(kind):
        return b"".join(each.data for each in made.lines).decode()
    left = [
        value[line.source_index]
        if line.is_unchanged and line.source_index is not None
        else json.loads(line.data)
        for line in made.lines
    ]
    _require_place(left, kind)
    return left


def without_nulls(value: object) -> object:
    """Return a value without the fields of structs that are null, as they are where none is."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def _require_place(messages: list[Any], kind: object) -> None:
    """Raise UsageError where the column's type has no place for what compaction writes."""
    import pyarrow as pa

    try:
        held = pa.array([messages], type=kind).to_pylist()[0]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UsageError(f"what compaction writes is not of the column's type ({error})") from error
    if [without_nulls(each) for each in held] != [without_nulls(each) for each in messages]:
        raise UsageError("what compaction writes has fields that the column's type has not")
