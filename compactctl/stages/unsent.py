"""Unsent: take out of the file what its client keeps and sends to no model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Proposal, RemoveUnsent, Skipped
from compactctl.model.transcript import RecordStats
from compactctl.model.unsent import UnsentKind
from compactctl.stages.support.stage import Stage, group_id, option
from compactctl.tokens.meter import Meter

NAME = "unsent"
# One of each kind, and several.
_KIND_LABELS: dict[UnsentKind, tuple[str, str]] = {
    "progress": ("record of progress", "records of progress"),
    "copies": ("copy of what a tool gave back", "copies of what tools gave back"),
    "snapshots": ("state of files to go back to", "states of files to go back to"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentOptions:
    """What goes beside records of progress and copies of what tools gave back."""

    snapshots: bool = option(
        False,
        "Also take out the states of files by which the client itself takes back its changes; "
        "it cannot do that any more then.",
    )


def propose(view: ConversationView, meter: Meter, options: UnsentOptions) -> Proposal | Skipped:
    """Propose to take out what is there of the kinds that may go; no message changes."""
    _ = meter
    if view.unsent is None:
        reason = "with --native and --layout inline, as in a pipe, every record stays in the file"
        return Skipped(stage=NAME, reason=reason, detail="write a file to take some out")
    found = {kind: view.unsent[kind] for kind in _removable_kinds(options) if kind in view.unsent}
    if not found or not view.messages:
        reason = "the file holds nothing that its client is known never to send"
        return Skipped(stage=NAME, reason=reason, detail=_detail(view.unsent))
    kinds = tuple(found)
    first = view.messages[0].id
    group = group_id(NAME, options, (*kinds, first))
    taken = ", ".join(_text(kind, volume) for kind, volume in found.items())
    return Proposal(
        stage=NAME,
        edits=(RemoveUnsent(id=first, kinds=kinds, group=group, reason="never sent"),),
        notes=(f"never sent: {taken}",),
        figures={
            "unsentRecords": sum(each.count for each in found.values()),
            "unsentBytes": sum(each.n_bytes for each in found.values()),
        },
    )


def _removable_kinds(options: UnsentOptions) -> Iterator[UnsentKind]:
    yield "progress"
    yield "copies"
    if options.snapshots:
        yield "snapshots"


def _detail(left: Iterable[UnsentKind]) -> str:
    """Name the options that would find something."""
    ways = ", ".join(f"--unsent-{kind}" for kind in left)
    return f"more goes with {ways}" if ways else ""


def _text(kind: UnsentKind, volume: RecordStats) -> str:
    one, several = _KIND_LABELS[kind]
    return f"{volume.count:,} {one if volume.count == 1 else several} ({volume.n_bytes:,} bytes)"


STAGE = Stage(
    name=NAME,
    title="take out of the file what its client keeps and sends to no model",
    options=UnsentOptions,
    propose=propose,
    only_trims_file=True,
    figures=("unsentRecords", "unsentBytes"),
)
