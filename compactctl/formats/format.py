"""What formats offer: recognise, read, and write the few records compactctl writes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from compactctl.formats.content.part_rewrite import rewrite_value
from compactctl.formats.records.decode import Decoded
from compactctl.model.message import JsonPath, Message, Part, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule
from compactctl.model.usage_fields import UsageFields
from compactctl.pipeline.writer import RecordWriter

Version = tuple[int, ...]


class Format(RecordWriter, ABC):
    """A transcript format: subclasses state what they have, and inherit that they lack the rest.

    Attributes:
        name: what ``--format`` takes.
        title: whose transcripts these are, in words.
        reads_arrays: whether records may also stand in a JSON array.
        can_write_assistant: whether ``new_record`` also writes what the assistant says, and the
            half of a tool pair.
    """

    name: str
    title: str
    reads_arrays: bool = False
    can_write_assistant: bool = False
    parent_path: JsonPath | None = None
    usage_fields: UsageFields | None = None
    unsent: tuple[UnsentRule, ...] = ()

    @abstractmethod
    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Tell from the first records (objects only) whether the file is of this format."""

    @abstractmethod
    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order. Every line ends up as message, meta or opaque."""

    def new_id(self, message: Synthetic) -> str:
        """Return the record id that a written summary or marker gets: the message's own."""
        return message.id

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return what stands at the part's path once its content is ``text``.

        Raises:
            ValueError: the part cannot be rewritten, or its new text does not fit its shape.
        """
        return rewrite_value(message.parts[part], current, text, self.new_content)

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return ``text`` in the shape of the current content of a part that is not a call."""
        return text


class NativeAppend(ABC):
    """How to change what a client sends of a session without changing a byte that is there.

    Attributes:
        version_of: what the versions are of: the client, or the file where that alone tells one.
        oldest_tested: the oldest version that was seen to honour this.
        newest_tested: the newest such version.
        lists_open_since: the oldest version that leaves a note of the sessions it has open, None
            where none does.
        keeps_file_open: whether the client keeps the file of a session open as long as it goes on.
    """

    version_of: Literal["client", "file"]
    oldest_tested: Version
    newest_tested: Version
    lists_open_since: Version | None = None
    keeps_file_open: bool = False

    def normalized(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return a session without records that do not count any more, as if it were new.

        Each record stands where the conversation has it; the same lines where nothing was appended.
        """
        return lines

    @abstractmethod
    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return the lines that make a session of the lines ``current`` read as ``desired`` does.

        They are marked with ``operation``, the last is the record to go on from. None are needed
        where it reads so already. UsageError where something would be lost.
        """
