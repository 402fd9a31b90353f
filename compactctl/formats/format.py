"""What formats offer: recognise, read, and write the few records compactctl writes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from compactctl.formats.content.part_rewrite import rewritten
from compactctl.formats.records.decode import Decoded
from compactctl.model.message import JsonPath, Message, Part, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule
from compactctl.model.usage_fields import CountFields
from compactctl.pipeline.writer import Writer

Version = tuple[int, ...]


class Format(Writer, ABC):
    """A transcript format: subclasses state what they have, and inherit that they lack the rest.

    Attributes:
        name: what ``--format`` takes.
        title: whose transcripts these are, in words.
        reads_arrays: whether records may also stand in a JSON array.
        writes_pairs: whether ``new_record`` also writes what the assistant says, and the half of
            a tool pair.
    """

    name: str
    title: str
    reads_arrays: bool = False
    writes_pairs: bool = False
    parent_path: JsonPath | None = None
    counts: CountFields | None = None
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
        return rewritten(message.parts[part], current, text, self.new_content)

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return ``text`` in the shape of the current content of a part that is not a call."""
        return text


class Appending(ABC):
    """How to change what a client sends of a session without changing a byte that is there.

    Attributes:
        of: what the versions are of: the client, or the file where that alone tells one.
        oldest: the oldest version that was seen to honour this.
        newest: the newest such version.
        notes_open: the oldest version that leaves a note of the sessions it has open, None where
            none does.
        holds_files: whether the client keeps the file of a session open as long as it goes on.
    """

    of: Literal["client", "file"]
    oldest: Version
    newest: Version
    notes_open: Version | None = None
    holds_files: bool = False

    def settled(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return a session without records that do not count any more, as if it were new.

        Each record stands where the conversation has it; the same lines where nothing was appended.
        """
        return lines

    @abstractmethod
    def block(self, now: Sequence[bytes], wanted: Sequence[bytes], operation: str) -> list[bytes]:
        """Return the lines that make a session of the lines ``now`` read as ``wanted`` does.

        They are marked with ``operation``, the last is the record to go on from. None are needed
        where it reads so already. UsageError where something would be lost.
        """
