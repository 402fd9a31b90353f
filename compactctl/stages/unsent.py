"""Unsent: remove records that the client never sends to the model."""

from collections.abc import Iterable, Iterator

from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Proposal, RemoveUnsent, SkippedStage
from compactctl.model.transcript import RecordStats
from compactctl.model.unsent import UnsentKind
from compactctl.records import Record
from compactctl.stages.support.stage import Stage, group_id, option
from compactctl.tokens.meter import Meter

NAME = "unsent"
# Singular and plural.
_KIND_LABELS: dict[UnsentKind, tuple[str, str]] = {
    "progress": ("progress record", "progress records"),
    "copies": ("copy of tool output", "copies of tool output"),
    "snapshots": ("file snapshot", "file snapshots"),
}


class UnsentOptions(Record):
    """What to remove besides progress records and copies of tool results."""

    snapshots: bool = option(
        False,
        "Also remove file snapshots. The client can then no longer undo its own file changes.",
    )


def propose(
    view: ConversationView, meter: Meter, options: UnsentOptions
) -> Proposal | SkippedStage:
    """Propose to remove all unsent records of the enabled kinds; no message changes."""
    _ = meter
    if view.unsent is None:
        reason = "with --native and --layout inline, as in a pipe, every record stays in the file"
        return SkippedStage(stage=NAME, reason=reason, detail="write to a file instead")
    removable = {
        kind: view.unsent[kind] for kind in _removable_kinds(options) if kind in view.unsent
    }
    if not removable or not view.messages:
        reason = "the file contains no records that its client never sends"
        return SkippedStage(stage=NAME, reason=reason, detail=_detail(view.unsent))
    kinds = tuple(removable)
    first = view.messages[0].id
    group = group_id(NAME, options, (*kinds, first))
    description = ", ".join(_describe(kind, stats) for kind, stats in removable.items())
    return Proposal(
        stage=NAME,
        edits=(RemoveUnsent(id=first, kinds=kinds, group=group, reason="never sent"),),
        notes=(f"never sent: {description}",),
        figures={
            "unsentRecords": sum(stats.count for stats in removable.values()),
            "unsentBytes": sum(stats.n_bytes for stats in removable.values()),
        },
    )


def _removable_kinds(options: UnsentOptions) -> Iterator[UnsentKind]:
    yield "progress"
    yield "copies"
    if options.snapshots:
        yield "snapshots"


def _detail(kinds: Iterable[UnsentKind]) -> str:
    """Name the options that would remove something."""
    flags = ", ".join(f"--unsent-{kind}" for kind in kinds)
    return f"{flags} removes more" if flags else ""


def _describe(kind: UnsentKind, stats: RecordStats) -> str:
    singular, plural = _KIND_LABELS[kind]
    return f"{stats.count:,} {singular if stats.count == 1 else plural} ({stats.n_bytes:,} bytes)"


STAGE = Stage(
    name=NAME,
    title="remove records that the client never sends to the model",
    options=UnsentOptions,
    propose=propose,
    only_trims_file=True,
    count_names=("unsentRecords", "unsentBytes"),
)
