"""Compacts lines in memory, without an archive: only the caller still has the originals."""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from compactctl.commands.measuring.measure import Measurement, measure
from compactctl.commands.planning.plan import Plan, Recipe, make_plan
from compactctl.commands.planning.run_stages import (
    SizedTranscript,
    StageInputs,
    StageRun,
    run_stages,
)
from compactctl.commands.reading.proof import expected_messages, prove_layout
from compactctl.commands.reading.transcript import InputOptions, TranscriptFile, loaded_from
from compactctl.errors import UsageError
from compactctl.history.apply import net_edits
from compactctl.history.unread import describe_unread
from compactctl.model.summary import Summarizer
from compactctl.model.transcript import Opaque, Transcript
from compactctl.pipeline.layout import LayoutOptions, NewLine, lay_out
from compactctl.records import Record
from compactctl.store.files.conversation_types import arrow_array, is_structs, is_text
from compactctl.store.files.source import Source, digest_of
from compactctl.tokens.fit import size_limit
from compactctl.tokens.meter import Meter
from compactctl.tokens.verdict import Judgment


class CompactedLines(Record):
    """The lines after a compaction, each with the index of the input line it comes from, if any.

    ``transcript`` is the input and ``written`` what these lines hold, ``measured`` how it was
    measured, ``run`` what the stages did.
    """

    lines: tuple[NewLine, ...]
    transcript: Transcript
    written: Transcript
    measured: Measurement
    run: StageRun

    @property
    def tokens_before(self) -> int:
        """Tokens of all conversations in the input."""
        return self.run.outcome.before.tokens

    @property
    def tokens_after(self) -> int:
        """Tokens of all conversations after the compaction."""
        return self.run.outcome.after.tokens

    @property
    def limit(self) -> int:
        """The target in tokens, capped by the window; without a target, the size gates compare."""
        return size_limit(self.run.outcome.target, self.measured.limits)

    @property
    def largest_after(self) -> int:
        """Tokens of the largest next request."""
        return self.run.outcome.after.request_tokens

    @property
    def unread(self) -> str:
        """Where text is that was not read, "" if all was; every size is then too small."""
        return describe_unread(self.transcript.unread)

    @property
    def judgment(self) -> Judgment:
        """The largest next request, compared with its limits; without what will be refused."""
        return self.run.outcome.judge(self.measured.limits, is_incomplete=bool(self.unread))

    @property
    def opaque(self) -> tuple[Opaque, ...]:
        """Content that was copied without being understood."""
        return self.transcript.opaque


def compact_lines(
    lines: Sequence[bytes],
    options: InputOptions,
    recipe: Recipe,
    summarizer: Summarizer | None = None,
    meter: Meter | None = None,
) -> CompactedLines:
    """Compact lines and write no tags; errors name the path in ``options``.

    ``meter`` is ``measured.meter`` of a compaction of the same list when it was shorter: what it
    remembers is not computed again.

    Raises NotUnderstoodError for lines that are not a transcript, UsageError for invalid options,
    and OutputFaultError if the new lines would not read back as the stages left the messages.
    """
    source = Source(path=None, lines=lines, digest=digest_of(lines), name=options.path)
    loaded = loaded_from(source, options.path, options.format, is_log=False)
    measured = measure(loaded.transcript, recipe.measure, meter=meter)
    plan = make_plan(recipe, measured.limits, measured.model)
    inputs = StageInputs(summarizer=summarizer, texts=recipe.plan.texts)
    return compact_sized(loaded, SizedTranscript.of(loaded.transcript, measured), plan, inputs)


def compact_sized(
    loaded: TranscriptFile, sized: SizedTranscript, plan: Plan, inputs: StageInputs
) -> CompactedLines:
    """Run a plan over lines that were read and sized. Raises OutputFaultError."""
    stage_run = run_stages(sized, plan, inputs)
    style = LayoutOptions(tags=False)
    edits = net_edits(stage_run.applied.edits)
    new_lines = tuple(lay_out(loaded.lines, loaded.transcript, edits, loaded.format, style))
    data = [line.data for line in new_lines]
    # The same lines read back the same.
    written = loaded.transcript
    if data != list(loaded.lines):
        expected = expected_messages(stage_run.applied.after)
        written = prove_layout(data, loaded.format, expected, loaded.source.name)
    return CompactedLines(
        lines=new_lines,
        transcript=loaded.transcript,
        written=written,
        measured=sized.measured,
        run=stage_run,
    )


def lines_of(value: Any, kind: Any) -> list[bytes]:  # noqa: ANN401 - a row holds any value
    """Return the raw lines of a conversation: a text unchanged, or one JSON line per message.

    ``kind`` is the column's Arrow type. Null fields of structs are left out of the lines.
    """
    if is_text(kind):
        return [_encoded(value)]
    if is_structs(kind):
        return [json.dumps(without_nulls(message)).encode() + b"\n" for message in value]
    return [_encoded("null" if message is None else message) + b"\n" for message in value]


def _encoded(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def value_of(value: Any, kind: Any, lines: Sequence[NewLine]) -> Any:  # noqa: ANN401
    """Return a compacted conversation as a value of the column it was read from.

    Unchanged messages are taken from ``value``. Raises UsageError if the column's type cannot hold
    a record written by compaction.
    """
    if is_text(kind):
        data = b"".join(line.data for line in lines)
        return data if isinstance(value, bytes) else data.decode()
    parse = json.loads if is_structs(kind) else partial(_text_of, like=value)
    messages = [
        value[line.source_index]
        if line.is_unchanged and line.source_index is not None
        else parse(line.data)
        for line in lines
    ]
    if is_structs(kind):
        _require_place(messages, kind)
    return messages


def _text_of(line: bytes, like: Iterable[object]) -> str | bytes:
    """Return a line as an element of a list of texts or bytes."""
    text = line.removesuffix(b"\n")
    return text if any(isinstance(item, bytes) for item in like) else text.decode()


def without_nulls(value: object) -> object:
    """Drop null fields: a column of structs holds every field of its type in every row."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _require_place(messages: list[Any], kind: object) -> None:
    """Raise UsageError if the column's type cannot hold the messages."""
    import pyarrow as pa

    try:
        converted = arrow_array([messages], kind).to_pylist()[0]
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise UsageError(
            f"the compacted messages do not fit the column's type ({error})"
        ) from error
    if [without_nulls(message) for message in converted] != [
        without_nulls(message) for message in messages
    ]:
        raise UsageError("the compacted messages have fields that the column's type lacks")
