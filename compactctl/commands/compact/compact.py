"""Compacts a transcript: stages, layout, proof, and the archive that undoes it."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compactctl import __version__
from compactctl.commands.compact.archive_hint import archive_hint
from compactctl.commands.compact.audits import SummaryAudit, audits_of, require_audit
from compactctl.commands.compact.explain import explain
from compactctl.commands.compact.memory import release_memory
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.compact.verify_output import Meant, meant_by, prove_layout
from compactctl.commands.forking.new_session import (
    archives_under,
    continued_with,
    load_fork,
    make_room,
    new_session,
)
from compactctl.commands.forking.outside_stores import check_outside_stores
from compactctl.commands.loading.database_path import is_in_database
from compactctl.commands.loading.load import Loaded, check_strict, load, loaded_from
from compactctl.commands.operations.history import OperationHistory, history_behind
from compactctl.commands.operations.inline import own_fields
from compactctl.commands.operations.originals import originals_of
from compactctl.commands.operations.steps import Archived
from compactctl.commands.planning.plan import Plan, make_plan
from compactctl.commands.planning.run_stages import PlanOutcome, run_all
from compactctl.commands.sizing.figures import figures_of
from compactctl.commands.sizing.measure import Measure, measure
from compactctl.errors import DoesNotFitError, IntegrityError, UsageError
from compactctl.formats.format import Format
from compactctl.history.damage import damage_of
from compactctl.history.standins import newest_id
from compactctl.llm.choice import summarizer_for
from compactctl.model.edit import Edit, Insert
from compactctl.model.message import Message, MessageId
from compactctl.model.operation import ArchivedLine, Digest, Operation, OperationId
from compactctl.pipeline.apply import fold
from compactctl.pipeline.archive_rows import StageEdits, archive_rows
from compactctl.pipeline.edit_codec import content_of
from compactctl.pipeline.layout import LayoutStyle, lay_out
from compactctl.pipeline.new_file import NewFile
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.deposit import Deposit
from compactctl.store.files.content import Content, Lines
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.lines import STANDARD_INPUT, Source
from compactctl.store.publish.overwrite import is_same_place
from compactctl.store.publish.publish import check_place, publish

__all__ = ["CompactOptions", "CompactResult", "compact", "compact_for_figures"]

_COMPACTED = re.compile(r"\.compacted(?:\.(\d+))?$")


def compact(options: CompactOptions) -> CompactResult:
    """Compact a transcript. Raises CompactctlError subclasses; nothing is half written.

    A dry run refuses a target as the run would, but for the usual one in a client's store.
    """
    options = _with_fork(options)
    _check_target(options)
    ready = _ready(options)
    if options.dry_run:
        ready.check_target()
        return ready.result
    return ready.write()


def compact_for_figures(options: CompactOptions) -> CompactResult:
    """Return what ``compact`` would come to; where it would be written is not looked at."""
    return _ready(options).result


def _ready(options: CompactOptions) -> "_Ready":
    _check_options(options)
    ready = _proven(_in_place(options))
    release_memory()
    return ready


def _proven(options: CompactOptions) -> "_Ready":
    """Return what is to be written; a damaged file that cannot be edited is left as it is."""
    read, history, loaded = _read(options)
    source, damage = loaded.source, damage_of(loaded.transcript)
    ready = replace(_prepared(options, loaded, history), source=read)
    del loaded
    release_memory()
    if ready.expected is None:
        return ready
    try:
        name = str(source.path or "standard input")
        prove_layout(Lines(ready.content.pieces), ready.format, ready.expected, name)
    except IntegrityError:
        if damage is None:
            raise
        loaded = loaded_from(source, options.path, options.format, options.limits)
        return replace(_prepared(options, loaded, history, held=damage), source=read)
    return ready


def _read(options: CompactOptions) -> tuple[Source, OperationHistory, Loaded]:
    """Return what is read, the history behind it, and what is to be compacted."""
    if options.fork is not None:
        return load_fork(options.path, options.format, options.limits, options.fork)
    loaded = load(options.path, options.format, options.limits)
    return loaded.source, history_behind(loaded), loaded


def _prepared(
    options: CompactOptions, loaded: Loaded, history: OperationHistory, held: str = ""
) -> "_Ready":
    """Run the stages on a transcript, unless something holds them back, and lay out the file."""
    summarizer = summarizer_for(options.summarizer)
    if options.strict:
        check_strict(loaded.transcript, options.path)
    measured = measure(loaded.transcript, options.measure)
    hint = archive_hint(
        None if options.output == STANDARD_INPUT else _target(options),
        is_archived=_is_archived(options, history),
        lines=len(loaded.lines),
    )
    plan = replace(
        make_plan(options.plan, measured.limits),
        summarizer=summarizer,
        texts=replace(options.plan.texts, archive_hint=hint),
        held=held,
    )
    originals = originals_of(loaded, history)
    outcome = run_all(loaded.transcript, plan, measured, options.protect, originals)
    return _Job(
        options=options,
        loaded=loaded,
        history=history,
        measured=measured,
        plan=plan,
        outcome=outcome,
        audits=_audited(options, loaded, outcome, originals, measured),
    ).finish()


def _audited(
    options: CompactOptions,
    loaded: Loaded,
    outcome: PlanOutcome,
    originals: Mapping[MessageId, tuple[Message, ...]],
    measured: Measure,
) -> tuple[SummaryAudit, ...]:
    """Audit the summaries; AuditFailedError for one that may not be used."""
    wanted, cwd = options.require_audit, loaded.transcript.cwd
    audits = audits_of(outcome, originals, measured.meter, cwd, own=wanted)
    if wanted:
        require_audit(options.path, audits)
    return audits


def _check_options(options: CompactOptions) -> None:
    piped = STANDARD_INPUT in (options.path, options.output)
    if options.in_place and options.output is not None:
        raise UsageError("--in-place and --output contradict each other; choose one")
    if options.in_place and options.path == STANDARD_INPUT:
        raise UsageError("standard input cannot be compacted in place; name a file")
    to_pipe = piped and options.output in (None, STANDARD_INPUT) and not options.dry_run
    if to_pipe and options.layout == "split":
        raise UsageError(
            "a pipe has no folder for the archive; use --layout inline, or name a file with -o"
        )


def _with_fork(options: CompactOptions) -> CompactOptions:
    """Return options with the new session that a compaction is to be written as, if it is one.

    It is where nobody said where to write. Inline a client would still send all of a session, so
    no session is made of that.
    """
    is_named = options.in_place or options.output is not None
    if is_named or options.path == STANDARD_INPUT or options.layout == "inline":
        return options
    return replace(options, fork=new_session(options.path))


def _continued_with(options: CompactOptions) -> str | None:
    """Return the command that goes on with what was written; None outside of clients' stores."""
    is_there = options.in_place or options.fork is not None
    return continued_with(options.path, options.fork) if is_there else None


def _in_place(options: CompactOptions) -> CompactOptions:
    """Return options that name no output that is the input: that means in place."""
    if options.output is None or STANDARD_INPUT in (options.path, options.output):
        return options
    if not is_same_place(options.path, options.output):
        return options
    return replace(options, output=None, in_place=True)


def _check_target(options: CompactOptions) -> None:
    """Raise UsageError where a copy would lie in a client's store, or has no place at all."""
    if _in_place(options).in_place:
        if is_in_database(options.path):
            raise UsageError(f"{options.path}: is in a database, which is only read; use -o FILE")
        return
    is_usual = options.output is None and (options.dry_run or options.path == STANDARD_INPUT)
    if not (is_usual or options.fork) and options.output != STANDARD_INPUT:
        check_outside_stores(options.path, _target(options), named=options.output is not None)


def _target(options: CompactOptions) -> Path:
    if options.in_place:
        return Path(options.path)
    if options.output is not None:
        return Path(options.output)
    if options.fork is not None:
        return options.fork.path
    return compacted_name(Path(options.path))


def _is_archived(options: CompactOptions, history: OperationHistory) -> bool:
    """Tell whether the operation gets an archive; all get one behind one that has one."""
    return options.layout == "split" or options.in_place or bool(_archived(history))


def _archived(history: OperationHistory) -> list[Archived]:
    return [step for step in history.chain if isinstance(step, Archived)]


def _left_behind(source: Source, history: OperationHistory) -> tuple[str, ...]:
    """Return the warning for what a pipe cannot take along."""
    if source.path is None or not _archived(history):
        return ()
    return (
        f"a pipe takes no archive: the operations before stay in {archive_folder(source.path)}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A compaction that is laid out; of the transcript it holds no message.

    ``expected`` is what the new file is to say, None when it is the old one; ``archived`` are the
    operation and the rows that lead back.
    """

    options: CompactOptions
    source: Source
    history: OperationHistory
    format: Format
    content: Content
    result: CompactResult
    expected: tuple[Meant, ...] | None = None
    archived: Deposit | None = None

    def write(self) -> CompactResult:
        """Publish the new transcript where it belongs; one without changes only if asked to."""
        if self._is_idle:
            return self.result
        if self.options.output == STANDARD_INPUT:
            warnings = (*self.result.warnings, *_left_behind(self.source, self.history))
            return replace(self.result, data=self.content.pieces, warnings=warnings)
        target = _target(self.options)
        archives = self._archives(target)
        if self.options.fork is not None:
            make_room(self.options.fork)
        published = publish(
            FileSystem(),
            source=self.source,
            target=target,
            archives=archives,
            content=self.content,
            force=self.options.force,
        )
        return replace(
            self.result,
            output=str(target),
            archive=str(archive_folder(target)) if archives else None,
            carried_lines=published.growth.lines,
            left_out_from=published.growth.left_out_from,
            forked_from=self.options.fork.original.id if self.options.fork else None,
            continue_with=_continued_with(self.options),
            warnings=(*self.result.warnings, *published.warnings),
        )

    def check_target(self) -> None:
        """Raise what ``write`` would of where the new transcript belongs."""
        if self._is_idle or self.options.output == STANDARD_INPUT or self.options.fork:
            return
        target = _target(self.options)
        check_place(
            source=self.source,
            target=target,
            content=self.content,
            is_archived=bool(self._archives(target)),
            force=self.options.force,
        )

    @property
    def _is_idle(self) -> bool:
        return self.options.output is None and self.expected is None

    def _archives(self, target: Path) -> list[Deposit]:
        if not _is_archived(self.options, self.history) and self.archived is not None:
            return []
        return [*self._earlier_archives(target), *filter(None, (self.archived,))]

    def _earlier_archives(self, target: Path) -> list[Deposit]:
        """Return the operations behind the input, so that the new archive holds all of them."""
        path = self.source.path
        if path is None or is_same_place(path, target):
            return []
        if self.options.fork is not None:
            return archives_under(self.options.fork, self.history)
        return [(step.operation, step.rows()) for step in _archived(self.history)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One compaction between the stages' outcome and what is to be written."""

    options: CompactOptions
    loaded: Loaded
    history: OperationHistory
    measured: Measure
    plan: Plan
    outcome: PlanOutcome
    audits: tuple[SummaryAudit, ...]

    def finish(self) -> _Ready:
        """Lay out the new file, and say what came of it."""
        source, chosen = self.loaded.source, self.loaded.format
        if not self.outcome.edits:
            result = self._result(source.digest, operation=None)
            self._require_fit(result)
            return _Ready(
                options=self.options,
                source=source,
                history=self.history,
                format=chosen,
                content=source.content,
                result=result,
            )
        name = self._operation_id()
        new = self._new_file(name)
        content = Content.of(new)
        result = self._result(content.digest, operation=name)
        self._require_fit(result)
        return _Ready(
            options=self.options,
            source=source,
            history=self.history,
            format=chosen,
            content=content,
            result=result,
            expected=meant_by(self.outcome.after),
            archived=(self._operation(name, content.digest), self._rows(new)),
        )

    def _require_fit(self, result: CompactResult) -> None:
        if self.options.require_fit and not result.fits:
            raise DoesNotFitError(
                f"{self.options.path}: {result.largest_after:,} tokens are left after all stages, "
                f"over the limit of {result.limit:,}; nothing was written, add a stage or keep less"
            )

    def _parent(self) -> OperationId | None:
        chain = self.history.chain
        return chain[-1].id if chain else None

    def _operation_id(self) -> OperationId:
        content = {
            "before": self.loaded.source.digest.sha256,
            "stages": [(record.name, _plain(record.options)) for record in self.outcome.stages],
            "edits": content_of(self.outcome.edits),
            "format": self.loaded.format.name,
            "tool": __version__,
            "layout": self.options.layout,
            "tags": self.options.tags,
            "own": self._own_fields(),
        }
        text = json.dumps(content, sort_keys=True)
        return OperationId(hashlib.sha256(text.encode()).hexdigest()[:12])

    def _new_file(self, name: OperationId) -> NewFile:
        inline = self.options.layout == "inline"
        loaded, own = self.loaded, self._own_fields()
        if inline:
            before = loaded.source.digest
            own |= own_fields(loaded.lines, loaded.transcript, before, self._parent())
        style = LayoutStyle(
            layout=self.options.layout, operation=name, tags=inline or self.options.tags, own=own
        )
        folded = fold(self.outcome.edits)
        lines = lay_out(loaded.lines, loaded.transcript, folded, loaded.format, style)
        return NewFile(loaded.lines, lines)

    def _own_fields(self) -> dict[str, Any]:
        """Return what lets later measurements tell what requests held at this point."""
        outcome = self.outcome
        newest, model = newest_id(outcome.before), self.loaded.transcript.model
        is_named = any(message.model for message in outcome.after)
        told = {
            "through": newest,
            "unseen": outcome.unseen,
            "model": None if is_named else model,
        }
        return {name: value for name, value in told.items() if value}

    def _operation(self, name: OperationId, after: Digest) -> Operation:
        return Operation(
            id=name,
            parent=self._parent(),
            head=name,
            kind="compact",
            before=self.loaded.source.digest,
            after=after,
            format=self.loaded.format.name,
            counter=self.measured.counter.id,
            stages=self.outcome.stages,
            tool_version=__version__,
            recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _rows(self, new: NewFile) -> Iterator[ArchivedLine]:
        meter = self.measured.meter
        sizes = {message.id: meter.message(message) for message in self.outcome.before}
        made = StageEdits(edits=self.outcome.edits, stages=self.outcome.groups, tokens=sizes)
        loaded = self.loaded
        return archive_rows(loaded.lines, new, loaded.transcript, made)

    def _target(self) -> int | None:
        """Return the size to reach; after an overflow, what was too much has to go as well."""
        plan, outcome = self.plan, self.outcome
        if outcome.share is not None:
            return outcome.unseen + outcome.share
        if plan.target is None or not plan.excess:
            return plan.target
        before = outcome.largest_before + outcome.unseen_before
        return max(1, min(plan.target, before - plan.excess))

    def _result(self, after: Digest, operation: str | None) -> CompactResult:
        loaded, outcome = self.loaded, self.outcome
        return CompactResult(
            path=self.options.path,
            format=loaded.format.name,
            measure=self.measured.forgetting(),
            figures=figures_of(loaded.transcript, self.measured, outcome.unseen_before),
            target=self._target(),
            stages=outcome.stages,
            summaries=_summaries(outcome.edits),
            profile=self.options.plan.chosen,
            keep_turns=self.options.protect.keep_turns,
            cache=outcome.cache,
            pays_after=self._pays_after(),
            tokens_before=outcome.tokens_before,
            tokens_after=outcome.tokens_after,
            unseen=outcome.unseen,
            unseen_source=outcome.unseen_source,
            unreported=outcome.unreported,
            largest_after=outcome.largest_after + outcome.unseen,
            messages_before=len(outcome.before),
            messages_after=len(outcome.after),
            before=loaded.source.digest,
            after=after,
            output=None,
            archive=None,
            operation=operation,
            dry_run=self.options.dry_run,
            explain=self.options.explain,
            explained=explain(outcome, self.measured.meter),
            notes=outcome.notes,
            warnings=(*loaded.transcript.warnings, *self._held(), *self._findings()),
            audits=self.audits,
            opaque=loaded.transcript.opaque,
        )

    def _pays_after(self) -> int | None:
        cache, prices = self.outcome.cache, self.options.prices
        if cache is None or prices is None:
            return None
        price = prices.of(self.measured.model.name, cache.held + cache.anew)
        return cache.pays_after(price) if price else None

    def _findings(self) -> tuple[str, ...]:
        found = (each for each in self.audits if each.told and not each.is_own)
        return tuple(
            f"the summary by {each.writer}: {each.told}; compactctl audit lists them"
            for each in found
        )

    def _held(self) -> tuple[str, ...]:
        if not self.plan.held:
            return ()
        what = "left as it is: what the stages wanted would not be read back from a damaged file"
        return (f"{what} ({self.plan.held}); leave more of it alone, or try other stages",)


def _summaries(edits: Sequence[Edit]) -> dict[str, str]:
    written = (edit.message for edit in edits if isinstance(edit, Insert))
    return {message.group: message.text for message in written if message.kind == "summary"}


def compacted_name(path: Path) -> Path:
    """Return where a compaction goes by default: ``run.jsonl`` to ``run.compacted.jsonl``.

    A name that is one already is counted up: ``run.compacted.2.jsonl``.
    """
    stem, suffix = path.stem, path.suffix
    if suffix == ".gz":
        stem, suffix = Path(stem).stem, Path(stem).suffix
    match = _COMPACTED.search(stem)
    if match is None:
        return path.with_name(f"{stem}.compacted{suffix}")
    count = int(match[1] or 1) + 1
    return path.with_name(f"{stem[: match.start()]}.compacted.{count}{suffix}")


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in options.items()}
