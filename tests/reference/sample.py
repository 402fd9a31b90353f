"""The recorded sample: questions with NeuroLink's answers, and which version gave them."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("neurolink.json.gz")


def write_sample(questions: Sequence[dict[str, Any]], answers: Sequence[Any], version: str) -> None:
    """Replace the sample."""
    rows = [list(row) for row in zip(questions, answers, strict=True)]
    text = json.dumps({"version": version, "rows": rows}, ensure_ascii=False)
    _FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_sample() -> list[tuple[dict[str, Any], Any]]:
    """Return each question with NeuroLink's answer."""
    document = json.loads(gzip.decompress(_FILE.read_bytes()))
    return [(question, answer) for question, answer in document["rows"]]
