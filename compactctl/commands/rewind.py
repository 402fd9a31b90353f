"""Restores earlier states of a transcript, byte for byte."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from compactctl.commands.appended import appended, appended_since, require_carried
from compactctl.commands.inline import inline_compactions, rewind_inline
from compactctl.commands.regroup import without
from compactctl.commands.rewind_operation import rewind_operation
from compactctl.errors import ArchiveError, ChangedError, UsageError
from compactctl.model.operation import Digest, Operation
from compactctl.pipeline.archive_rows import plain_rows
from compactctl.store.chain import chain_of
from compactctl.store.deposit import Deposit
from compactctl.store.displaced import late_lines
from compactctl.store.filesystem import FileSystem
from compactctl.store.history import Archive, archive_folder, can_carry
from compactctl.store.lines import STANDARD_INPUT, Source, digest_of, open_input, split_lines
from compactctl.store.publish import publish, write_output


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindOptions:
    """Where to go: one of ``to``, ``group`` and ``all``, or none for the last compaction."""

    path: str
    to: str | None = None
    group: str | None = None
    all: bool = False
    check: bool = False
    output: str | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindResult:
    """What a rewind restored, or would restore with ``check``.

    ``undone`` are the compactions no longer in effect, newest first; ``carried`` counts the bytes
    that were appended since and are kept; ``late`` those of them that a program with the old file
    open went on writing there. ``moved`` is False when there was nothing to undo.
    """

    path: str
    output: str | None
    layout: str
    before: Digest
    after: Digest
    undone: tuple[str, ...]
    in_effect: tuple[str, ...]
    carried: int
    late: int
    checked: bool
    group: str | None = None
    warnings: tuple[str, ...] = ()
    data: bytes | None = None

    @property
    def moved(self) -> bool:
        """Whether the state, or what is in effect in it, differs from the one before."""
        return self.before != self.after or bool(self.undone)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """The state to go to, what is in effect there, and the archives that record the way."""

    data: bytes
    chain: tuple[Operation, ...]
    carried: int
    late: int = 0
    archives: tuple[Deposit, ...] = ()


def rewind(options: RewindOptions) -> RewindResult:
    """Rewind a transcript. Raises ArchiveError, IntegrityError, ChangedError, UsageError."""
    _check_options(options)
    source = open_input(options.path)
    archive = Archive(archive_folder(source.path)) if source.path else None
    if archive is None or not archive.operations:
        return _rewind_inline(options, source)
    try:
        chain = chain_of(archive, source.data)
    except ChangedError:
        if inline_compactions(source.data, options.path):
            return _rewind_inline(options, source)
        raise
    late = _late(archive, source.data)
    move = _destination(options)(options, archive, source.data + late, chain)
    return _finish(options, source, chain, replace(move, late=len(late)))


def _late(archive: Archive, data: bytes) -> bytes:
    """Return what a program went on writing to the file that the last operation replaced."""
    current, suffix = archive.current(data)
    if current is None or not can_carry(data, b"\n"):
        return b""
    return b"".join(late_lines(archive.folder, current, suffix))


def _check_options(options: RewindOptions) -> None:
    chosen = [name for name in ("to", "group", "all") if getattr(options, name)]
    if len(chosen) > 1:
        names = " and ".join(f"--{name}" for name in chosen)
        raise UsageError(f"{names} contradict each other; choose one")


_Destination = Callable[[RewindOptions, Archive, bytes, tuple[Operation, ...]], _Move]


def _destination(options: RewindOptions) -> _Destination:
    if options.group:
        return _take_back_group
    if options.to:
        return _go_to
    return _undo


def _undo(
    options: RewindOptions, archive: Archive, data: bytes, chain: tuple[Operation, ...]
) -> _Move:
    if not chain:
        return _Move(data=data, chain=(), carried=0)
    left = chain[0] if options.all else chain[-1]
    kept = chain[: chain.index(left)]
    return _joined(archive.undo(left.id), appended(archive, left, data, chain), kept)


def _go_to(
    options: RewindOptions, archive: Archive, data: bytes, chain: tuple[Operation, ...]
) -> _Move:
    wanted = _operation_named(archive, options.to or "")
    if wanted in chain:
        place = chain.index(wanted)
        if place == len(chain) - 1:
            return _Move(data=data, chain=chain, carried=0)
        following = chain[place + 1]
        carry = appended(archive, following, data, chain)
        return _joined(archive.undo(following.id), carry, chain[: place + 1])
    state = archive.state_after(wanted, data)
    return _joined(state, appended_since(archive, wanted, data), _ancestors(archive, wanted))


def _take_back_group(
    options: RewindOptions, archive: Archive, data: bytes, chain: tuple[Operation, ...]
) -> _Move:
    regrouped = without(options.group or "", archive, data, chain)
    return _Move(
        data=regrouped.data,
        chain=regrouped.chain,
        carried=regrouped.carried,
        archives=regrouped.archives,
    )


def _ancestors(archive: Archive, operation: Operation) -> tuple[Operation, ...]:
    by_id = {each.id: each for each in archive.operations}
    chain: list[Operation] = []
    head = operation.head
    while head is not None and head in by_id:
        chain.append(by_id[head])
        head = by_id[head].parent
    return tuple(reversed(chain))


def _joined(state: bytes, carry: bytes, chain: tuple[Operation, ...]) -> _Move:
    require_carried(state, carry)
    return _Move(data=state + carry, chain=chain, carried=len(carry))


def _operation_named(archive: Archive, name: str) -> Operation:
    found = {each.id: each for each in archive.operations if each.id.startswith(name)}
    if len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(found or [each.id for each in archive.operations])
    problem = "is ambiguous" if found else "is no operation of this transcript"
    raise UsageError(f"{name!r} {problem}; there are {names} (see compactctl log)")


def _finish(
    options: RewindOptions, source: Source, chain: tuple[Operation, ...], move: _Move
) -> RewindResult:
    result = RewindResult(
        path=options.path,
        output=None,
        layout="split",
        before=source.digest,
        after=digest_of(move.data),
        undone=tuple(each.id for each in reversed(chain) if each not in move.chain),
        in_effect=tuple(each.id for each in move.chain),
        carried=move.carried,
        late=move.late,
        checked=options.check,
        group=options.group,
        data=move.data if options.output == STANDARD_INPUT else None,
    )
    if options.check:
        return result
    return _published(options, source, chain, move, result)


def _published(
    options: RewindOptions,
    source: Source,
    chain: tuple[Operation, ...],
    move: _Move,
    result: RewindResult,
) -> RewindResult:
    if options.output is not None:
        if options.output != STANDARD_INPUT:
            write_output(FileSystem(), Path(options.output), move.data)
        return replace(result, output=options.output)
    if not result.moved:
        return result
    archives = move.archives or (_rewind_record(source, chain, move),)
    published = publish(
        FileSystem(),
        source=source,
        target=Path(options.path),
        archives=archives,
        data=move.data,
        force=options.force,
    )
    return replace(result, output=options.path, warnings=published.warnings)


def _rewind_record(source: Source, chain: tuple[Operation, ...], move: _Move) -> Deposit:
    operation = rewind_operation(source.digest, digest_of(move.data), chain, move.chain)
    return operation, plain_rows(split_lines(source.data))


def _rewind_inline(options: RewindOptions, source: Source) -> RewindResult:
    rewound = rewind_inline(source.data, options.path, group=options.group, everything=options.all)
    if rewound is None:
        raise ArchiveError(_no_way_back(options.path))
    if options.to:
        raise UsageError("--to needs an archive; an inline transcript has only its newest state")
    result = RewindResult(
        path=options.path,
        output=None,
        layout="inline",
        before=source.digest,
        after=digest_of(rewound.data),
        undone=rewound.undone,
        in_effect=rewound.in_effect,
        carried=rewound.carried,
        late=0,
        checked=options.check,
        data=rewound.data if STANDARD_INPUT in (options.output, options.path) else None,
    )
    if options.check or result.data is not None:
        return result
    target = options.output or options.path
    if target == options.path:
        publish(FileSystem(), source=source, target=Path(target), archives=(), data=rewound.data)
    else:
        write_output(FileSystem(), Path(target), rewound.data)
    return replace(result, output=target)


def _no_way_back(path: str) -> str:
    where = Path(path)
    beside = sorted(
        other.name
        for other in where.parent.glob(f"{where.stem}.compacted*{where.suffix}")
        if other.is_file()
    )
    hint = f"; did you mean {beside[-1]}?" if beside else ""
    return f"{path}: there is no archive beside it and no compaction inside it{hint}"
