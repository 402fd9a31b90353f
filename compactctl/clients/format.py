"""Base classes of formats: recognize, read and rewrite transcripts, and append to sessions."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Literal, Self

from compactctl.clients.content.part_rewrite import rewrite_value
from compactctl.clients.records.decode import Decoded
from compactctl.history.omissions import sent_messages
from compactctl.history.pair_faults import PairOrder
from compactctl.model.island import Island
from compactctl.model.message import JsonPath, Message, Part, RecordLocation, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule
from compactctl.model.usage_fields import UsageFields
from compactctl.pipeline.writer import RecordWriter
from compactctl.tokens.client_sizes import Version


class Format(RecordWriter, ABC):
    """A transcript format; the defaults are those of a format without optional features.

    Attributes:
        name: the value of ``--format``.
        title: the name of the format in messages to users.
        reads_arrays: whether records may also be stored in a JSON array.
        can_write_assistant: whether ``new_record`` also writes assistant messages and halves of
            tool pairs.
        can_write_results: whether ``new_record`` also writes the results of calls.
        repeats_session: whether the client may append a session once more when it resumes it.
        is_log: whether lines may be of several conversations and in any order; False for a list of
            messages that a program holds.
        tools_path: where a request has its tools; () if they are in no request.
        client: the display name of the client whose format it is, "" for none.
        provider: the API that its requests go to, as ``profiles/refusals.toml`` names it; "" if
            that depends on the model.
        pair_order: where the result of a call must stand in these requests.
    """

    name: str
    title: str
    reads_arrays: bool = False
    can_write_assistant: bool = False
    can_write_results: bool = False
    repeats_session: bool = False
    is_log: bool = True
    tools_path: tuple[str, ...] = ("tools",)
    client: str = ""
    provider: str = ""
    pair_order: PairOrder = "anywhere"
    parent_path: JsonPath | None = None
    usage_fields: UsageFields | None = None
    unsent: tuple[UnsentRule, ...] = ()

    @abstractmethod
    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize a file of this format by its first records (objects only)."""

    @abstractmethod
    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order. Every line becomes a message, metadata or opaque."""

    def islands(self, lines: Iterable[Decoded]) -> tuple[Island, ...]:
        """Return the messages that no next request sends, branch by branch in file order.

        Those that a compaction by the client hides may be among them, none of subagents.
        """
        return ()

    def is_sized_by_end(self, data: bytes) -> bool:
        """Return whether the newest report is about what the next request sends, as usual.

        A glance at the bytes of a file must tell: what the client sends may depend on any of them.
        """
        return True

    def for_list(self) -> Self:
        """Return this format for the messages of one conversation, in the order they stand in."""
        of_list = copy(self)
        of_list.is_log = False
        return of_list

    def said_since(self, earlier: Sequence[bytes], added: Sequence[bytes]) -> Sequence[bytes]:
        """Return lines with what the lines ``added`` say beyond those of ``earlier``."""
        return added

    def native_append(self) -> "NativeAppend | None":
        """Return how sessions are compacted by appending to them; None if they cannot be."""
        return None

    def compaction_request(
        self, lines: Iterable[Decoded], summary: RecordLocation
    ) -> tuple[RecordLocation, ...]:
        """Return the records that asked the client for a summary; both are undone together."""
        return ()

    def cleared_outputs(self, lines: Iterable[Decoded]) -> Iterator[tuple[RecordLocation, Any]]:
        """Yield each value that marks an output as cleared by the client, and its value before.

        The output itself is still in the file, and is sent again once the mark is removed.
        """
        return iter(())

    def without_compactions(
        self, lines: Sequence[bytes], dropped: Collection[int], repeated: Collection[int]
    ) -> Mapping[int, bytes]:
        """Return, by index, the lines that change if some lines are dropped.

        ``dropped`` are the lines of compactions by the client, and ``repeated`` those in which
        compactctl repeated a history.
        """
        return {}

    def moved_out(self, line: bytes, place: JsonPath) -> bytes | None:
        """Return what compactctl added inside of a record as a record of its own; else None."""
        return None

    def mark_omitted(self, history: Sequence[Message]) -> Sequence[Message]:
        """Return the history with what the client leaves out of the next request as omitted parts.

        It depends on the other messages, so it is done again after edits. No message is removed.
        """
        return history

    def request(self, history: Sequence[Message]) -> tuple[Message, ...]:
        """Return what the client sends of a history in its next request."""
        return sent_messages(self.mark_omitted(history))

    def warning_beside(self, path: Path, transcript: Transcript) -> str:
        """Return what a file beside that of a transcript changes in what is sent, "" if nothing."""
        return ""

    def new_id(self, message: Synthetic) -> str:
        """Return the record id of a summary or marker: by default the id of its message."""
        return message.id

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return ``text`` as the new value at the path of a part that holds ``current``.

        Raises:
            ValueError: the part cannot be rewritten, or the text does not fit its shape.
        """
        return rewrite_value(message.parts[part], current, text, self.new_content)

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return ``text`` in the shape of the ``current`` content of a part that is not a call."""
        return text


class NativeAppend(ABC):
    """Change what a client sends of a session by appending to its file.

    Attributes:
        version_of: whether versions are those of the client, or of the file format.
        oldest_tested: the oldest version for which appending was tested.
        newest_tested: the newest such version.
        lists_open_since: the oldest version that lists its open sessions on disk; None if no
            version does.
        keeps_file_open: whether the client keeps the file of a running session open.
    """

    version_of: Literal["client", "file"]
    oldest_tested: Version
    newest_tested: Version
    lists_open_since: Version | None = None
    keeps_file_open: bool = False

    def normalized(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return the lines without superseded records, each at its place in the conversation.

        Lines without appended records are returned unchanged.
        """
        return lines

    @abstractmethod
    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return the lines to append so that the client sends what it would send for ``desired``.

        They are marked with ``operation``; the last one is the record that the session continues
        from. [] if ``current`` is already equivalent.

        Raises:
            UsageError: appending would lose something.
        """

    @abstractmethod
    def carry(
        self, block: Sequence[bytes], grown: Sequence[bytes], operation: str
    ) -> Iterable[bytes]:
        """Return the lines of a block that follows lines which the client has just appended.

        ``block`` follows the lines before these. Raises ValueError if they do not only add to what
        is sent.
        """
