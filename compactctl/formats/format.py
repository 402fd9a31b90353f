"""What every format offers: recognise, read, and write the few records compactctl writes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from compactctl.formats.records.decode import Decoded
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import Writer


class Format(Writer, Protocol):
    """A transcript format.

    Attributes:
        name: what ``--format`` takes.
        title: whose transcripts these are, in words.
        reads_arrays: whether records may also stand in a JSON array.
        writes_pairs: whether ``new_record`` also writes what the assistant says, and the half of
            a tool pair.
    """

    name: str
    title: str
    reads_arrays: bool
    writes_pairs: bool

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Tell from the first records (objects only) whether the file is of this format."""

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order. Every line ends up as message, meta or opaque."""
