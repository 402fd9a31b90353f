"""The beginnings of bundled transcripts: where any session does, a short one is soon compacted."""

from itertools import islice
from pathlib import Path

_SAMPLES = Path(__file__).resolve().parents[1] / "sample_transcripts"


def excerpt(name: str, n_lines: int) -> bytes:
    """Return the first lines of a bundled transcript."""
    with (_SAMPLES / f"{name}.jsonl").open("rb") as stream:
        return b"".join(islice(stream, n_lines))
