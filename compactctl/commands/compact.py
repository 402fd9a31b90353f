"""Compacts a transcript: stages, layout, proof, and the archive that undoes it."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compactctl import __version__
from compactctl.commands.compaction import CompactOptions, CompactResult
from compactctl.commands.conversations import Outcome, run_all
from compactctl.commands.explain import explain
from compactctl.commands.inline import own_fields
from compactctl.commands.measure import Measure, measure
from compactctl.commands.originals import originals_of
from compactctl.commands.plan import Plan, make_plan
from compactctl.commands.proof import prove_layout
from compactctl.commands.reading import Loaded, check_strict, load
from compactctl.commands.trail import with_trail
from compactctl.errors import DoesNotFitError, UsageError
from compactctl.history.standins import newest_id
from compactctl.llm.choice import summarizer_for
from compactctl.model.edit import Edit, Insert, groups_of
from compactctl.model.operation import ArchivedLine, Digest, Operation, OperationId
from compactctl.pipeline.apply import fold
from compactctl.pipeline.archive_rows import StageEdits, archive_rows
from compactctl.pipeline.layout import NewLine, Style, lay_out
from compactctl.store.archive import archived_lines
from compactctl.store.chain import chain_of
from compactctl.store.deposit import Deposit
from compactctl.store.filesystem import FileSystem
from compactctl.store.history import Archive, archive_folder
from compactctl.store.lines import STANDARD_INPUT, digest_of
from compactctl.store.publish import publish

__all__ = ["CompactOptions", "CompactResult", "compact"]

_COMPACTED = re.compile(r"\.compacted(?:\.(\d+))?$")


def compact(options: CompactOptions) -> CompactResult:
    """Compact a transcript. Raises CompactctlError subclasses; nothing is half written."""
    _check_options(options)
    summarizer = summarizer_for(options.summarizer)
    loaded = load(options.path, options.format)
    if options.strict:
        check_strict(loaded.transcript, options.path)
    measured = measure(loaded.transcript, options.measure)
    plan = with_trail(
        replace(make_plan(options.plan, measured.budget), summarizer=summarizer),
        None if options.output == STANDARD_INPUT else _target(options),
        is_archived=_is_archived(options),
        lines=len(loaded.lines),
    )
    originals = originals_of(loaded)
    outcome = run_all(loaded.transcript, plan, measured, options.protect, originals)
    return _Job(options, loaded, measured, plan, outcome).finish()


def _check_options(options: CompactOptions) -> None:
    piped = STANDARD_INPUT in (options.path, options.output)
    if options.in_place and options.output is not None:
        raise UsageError("--in-place and --output contradict each other; choose one")
    if options.in_place and options.path == STANDARD_INPUT:
        raise UsageError("standard input cannot be compacted in place; name a file")
    if not piped and options.output is not None and _is_same(options.path, options.output):
        raise UsageError(f"{options.output} is the input; use --in-place to compact it in place")
    to_pipe = piped and options.output in (None, STANDARD_INPUT) and not options.dry_run
    if to_pipe and options.layout == "split":
        raise UsageError(
            "a pipe has no folder for the archive; use --layout inline, or name a file with -o"
        )


def _is_same(path: str | Path, output: str | Path) -> bool:
    return Path(path).resolve() == Path(output).resolve()


def _target(options: CompactOptions) -> Path:
    if options.in_place:
        return Path(options.path)
    if options.output is not None:
        return Path(options.output)
    return compacted_name(Path(options.path))


def _is_archived(options: CompactOptions) -> bool:
    return options.layout == "split" or options.in_place


class _Job:
    """One compaction between the stages' outcome and the published files."""

    def __init__(
        self,
        options: CompactOptions,
        loaded: Loaded,
        measured: Measure,
        plan: Plan,
        outcome: Outcome,
    ) -> None:
        self.options, self.loaded, self.measured = options, loaded, measured
        self.plan, self.outcome = plan, outcome
        self.folded = fold(outcome.edits)

    def finish(self) -> CompactResult:
        """Lay out, prove, publish."""
        if not self.outcome.edits:
            return self._unchanged()
        name = self._operation_id()
        new_lines = self._new_lines(name)
        data = b"".join(line.data for line in new_lines)
        prove_layout(data, self.loaded, self.outcome.after)
        operation = self._operation(name, digest_of(data))
        result = self._result(operation.after, operation=name)
        self._require_fit(result)
        if self.options.dry_run:
            return result
        return self._publish(result, operation, new_lines, data)

    def _unchanged(self) -> CompactResult:
        result = self._result(self.loaded.source.digest, operation=None)
        self._require_fit(result)
        if self.options.dry_run or self.options.output is None:
            return result
        data = self.loaded.source.data
        if self.options.output == STANDARD_INPUT:
            return replace(result, data=data)
        archives = self._earlier_archives(Path(self.options.output))
        return self._written(result, self.options.output, archives, data)

    def _require_fit(self, result: CompactResult) -> None:
        if self.options.require_fit and not result.fits:
            limit = result.target or self.measured.budget.available
            raise DoesNotFitError(
                f"{self.options.path}: {result.largest_after:,} tokens are left after all stages, "
                f"over the limit of {limit:,}; nothing was written, add a stage or keep less"
            )

    def _publish(
        self,
        result: CompactResult,
        operation: Operation,
        new_lines: Sequence[NewLine],
        data: bytes,
    ) -> CompactResult:
        if self.options.output == STANDARD_INPUT:
            return replace(result, data=data)
        target = _target(self.options)
        archives: list[Deposit] = []
        if _is_archived(self.options):
            archives = self._earlier_archives(target)
            archives.append((operation, self._rows(new_lines)))
        return self._written(result, str(target), archives, data)

    def _written(
        self, result: CompactResult, output: str, archives: Sequence[Deposit], data: bytes
    ) -> CompactResult:
        published = publish(
            FileSystem(),
            source=self.loaded.source,
            target=Path(output),
            archives=archives,
            data=data,
            force=self.options.force,
        )
        return replace(
            result,
            output=output,
            archive=str(archive_folder(Path(output))) if archives else None,
            warnings=(*result.warnings, *published.warnings),
        )

    def _earlier_archives(self, target: Path) -> list[Deposit]:
        """Return the operations behind the input, so that the new archive holds all of them."""
        path = self.loaded.source.path
        if path is None or _is_same(path, target):
            return []
        return archives_behind(Archive(archive_folder(path)), self.loaded.source.data)

    def _parent(self) -> OperationId | None:
        path = self.loaded.source.path
        if path is None:
            return None
        current, _ = Archive(archive_folder(path)).current(self.loaded.source.data)
        return current.head if current else None

    def _operation_id(self) -> OperationId:
        content = {
            "before": self.loaded.source.digest.sha256,
            "stages": [(record.name, _plain(record.options)) for record in self.outcome.stages],
            "groups": groups_of(self.outcome.edits),
            "tool": __version__,
            "layout": self.options.layout,
        }
        text = json.dumps(content, sort_keys=True)
        return OperationId(hashlib.sha256(text.encode()).hexdigest()[:12])

    def _new_lines(self, name: OperationId) -> tuple[NewLine, ...]:
        inline = self.options.layout == "inline"
        loaded, own = self.loaded, self._own_fields()
        if inline:
            own |= own_fields(loaded.lines, loaded.transcript, loaded.source.digest)
        style = Style(
            layout=self.options.layout, operation=name, tags=inline or self.options.tags, own=own
        )
        return lay_out(loaded.lines, loaded.transcript, self.folded, loaded.format, style)

    def _own_fields(self) -> dict[str, Any]:
        """Return what lets later measurements tell what requests held at this point."""
        newest = newest_id(self.outcome.before)
        through = {"through": newest} if newest else {}
        unseen = self.outcome.unseen
        return {**through, "unseen": unseen} if unseen else through

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

    def _rows(self, new_lines: Sequence[NewLine]) -> tuple[ArchivedLine, ...]:
        meter = self.measured.meter
        sizes = {message.id: meter.message(message) for message in self.outcome.before}
        made = StageEdits(edits=self.outcome.edits, stages=self.outcome.groups, tokens=sizes)
        loaded = self.loaded
        return archive_rows(loaded.lines, new_lines, loaded.transcript, made)

    def _target(self) -> int | None:
        """Return the size to reach; after an overflow, what was too much has to go as well."""
        plan, outcome = self.plan, self.outcome
        if plan.target is None or not plan.excess:
            return plan.target
        before = outcome.largest_before + outcome.unseen_before
        return max(1, min(plan.target, before - plan.excess))

    def _result(self, after: Digest, operation: str | None) -> CompactResult:
        loaded, outcome = self.loaded, self.outcome
        return CompactResult(
            path=self.options.path,
            format=loaded.format.name,
            measure=self.measured,
            target=self._target(),
            stages=outcome.stages,
            summaries=_summaries(outcome.edits),
            profile=self.options.plan.chosen,
            tokens_before=outcome.tokens_before,
            tokens_after=outcome.tokens_after,
            unseen=outcome.unseen,
            unseen_source=outcome.unseen_source,
            largest_after=outcome.largest_after + outcome.unseen,
            messages_before=len(outcome.before),
            messages_after=len(outcome.after),
            before=loaded.source.digest,
            after=after,
            output=None,
            archive=None,
            operation=operation,
            dry_run=self.options.dry_run,
            explained=explain(outcome, self.measured.meter),
            notes=outcome.notes,
            warnings=loaded.transcript.warnings,
            opaque=loaded.transcript.opaque,
        )


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


def archives_behind(archive: Archive, data: bytes) -> list[Deposit]:
    """Return the compactions in effect behind a transcript with their rows, oldest first."""
    return [
        (operation, tuple(archived_lines(archive.file_of(operation.id))))
        for operation in chain_of(archive, data)
    ]


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in options.items()}
