"""Our figures under the names of another system."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignRecord:
    """A record of another system.

    Attributes:
        system: whose it is.
        source: where the record is described, and what the system calls it.
        names: its names, each with that of our figure.
    """

    system: str
    source: str
    names: Mapping[str, str]


def neurolink_record(record: str, **names: str) -> ForeignRecord:
    """Return the record of that name in NeuroLink's documentation of context compaction."""
    source = f"NeuroLink documentation, Context Compaction: {record}"
    return ForeignRecord(system="neurolink", source=source, names=names)
