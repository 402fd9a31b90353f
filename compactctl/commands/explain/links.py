"""What is tied to a message: calls and results, looks at the same files, and groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compactctl.commands.inspect.view import ViewedMessage
from compactctl.history.pairs import tool_pairs
from compactctl.history.reads import by_path, file_edits, file_reads, superseded
from compactctl.model.message import Message, MessageId, Tags

# In the order in which they are told.
LinkKind = Literal["call", "result", "reads again", "edits", "stands for it", "hidden by it"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLink:
    """Another message, and what ties it to the one that is explained.

    Attributes:
        line: where it stands, from 1; None where it stands in the archive only.
        what: the tool of a call or result, the file that is read or edited, else the group.
        covers: of a message that reads a file again, whether it shows all that was shown before.
    """

    kind: LinkKind
    id: MessageId
    line: int | None
    role: str
    what: str
    covers: bool = False


@dataclass(frozen=True, slots=True)
class _Tie:
    kind: LinkKind
    index: int
    what: str
    covers: bool = False


def links_of(
    at: int, known: Sequence[ViewedMessage], lines: Mapping[MessageId, int], cwd: str | None
) -> tuple[MessageLink, ...]:
    """Return what is tied to the message at an index of ``known``, each thing once.

    ``lines`` tells where messages stand, from 1, of those that are in the file.
    """
    messages = [viewed.message for viewed in known]
    ties = [*_pairs(at, messages), *_files(at, messages, cwd), *_groups(at, known)]
    return tuple(
        MessageLink(
            kind=tie.kind,
            id=messages[tie.index].id,
            line=lines.get(messages[tie.index].id),
            role=messages[tie.index].role,
            what=tie.what,
            covers=tie.covers,
        )
        for tie in dict.fromkeys(ties)
    )


def group_of(tags: Tags) -> str | None:
    """Return the group that a summary, a marker or a rewritten message stands for."""
    return tags.condense_id or tags.truncation_id or tags.edit_id


def _pairs(at: int, messages: Sequence[Message]) -> Iterator[_Tie]:
    for result, call in tool_pairs(messages).items():
        named = messages[call.message].parts[call.part]
        tool: str = getattr(named, "tool", "")
        if result.message == at != call.message:
            yield _Tie("call", call.message, tool)
        if call.message == at != result.message:
            yield _Tie("result", result.message, tool)


def _files(at: int, messages: Sequence[Message], cwd: str | None) -> Iterator[_Tie]:
    """Yield the later reads and edits of the files that a message, or its results, show."""
    pairs = tool_pairs(messages)
    own = {at, *(result.message for result, call in pairs.items() if call.message == at)}
    reads = file_reads(messages, cwd=cwd)
    covered = superseded(reads)
    for path, same in by_path(reads).items():
        shown = [read for read in same if read.place.message in own]
        if not shown:
            continue
        newest = {covered[read.place].place for read in shown if read.place in covered}
        for read in same:
            if read.place > shown[-1].place:
                yield _Tie("reads again", read.place.message, path, read.place in newest)
        for edit in file_edits(messages, cwd=cwd):
            if edit.path == path and edit.place > shown[-1].place:
                yield _Tie("edits", edit.place.message, path)


def _groups(at: int, known: Sequence[ViewedMessage]) -> Iterator[_Tie]:
    own, hidden_by = group_of(known[at].message.tags), known[at].hidden_by
    for index, viewed in enumerate(known):
        if index == at:
            continue
        group = group_of(viewed.message.tags)
        if hidden_by is not None and group == hidden_by:
            yield _Tie("stands for it", index, hidden_by)
        if own is not None and viewed.hidden_by == own:
            yield _Tie("hidden by it", index, own)
