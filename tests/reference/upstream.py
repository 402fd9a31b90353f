"""NeuroLink's own code, as a process that answers questions.

Its npm package is fetched into a folder and started with Node. Of the modules that its compaction
imports, four would load most of the package: logging, tracing, the model that writes summaries, and
the registry of models that is downloaded at run time. Each is replaced by one that does nothing;
the summary is the one in the question.
"""

import json
import subprocess
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PACKAGE = "@juspay/neurolink"
VERSION = "9.37.0"
_ENTRY = Path(__file__).with_name("neurolink.mjs")
_STAND_INS = {
    "utils/logger.js": """
        const quiet = () => {};
        export const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    """,
    "observability/index.js": """
        export const SpanType = {}, SpanStatus = {};
        export const SpanSerializer = {
          createSpan: () => ({}), endSpan: () => ({}), updateAttributes: () => ({}),
        };
        export const getMetricsAggregator = () => ({ recordSpan: () => {} });
    """,
    "utils/conversationMemory.js": """
        export const generateSummary = async () => globalThis.summary;
    """,
    "core/dynamicModels.js": """
        export const DynamicModelProvider = { getInstance: () => ({ resolveModel: () => null }) };
    """,
}


def fetch(folder: Path) -> Path:
    """Return the folder of NeuroLink's modules, fetched into ``folder`` if it is not there yet."""
    dist = folder / "package" / "dist"
    if not dist.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}"]
        packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        with tarfile.open(folder / packed.stdout.strip()) as archive:
            archive.extractall(folder, filter="data")
    for name, text in _STAND_INS.items():
        (dist / name).write_text(text)
    return dist


def ask(dist: Path, questions: Iterable[dict[str, Any]]) -> list[Any]:
    """Return NeuroLink's answer to each question."""
    lines = "".join(f"{json.dumps(question)}\n" for question in questions)
    command = ["node", str(_ENTRY), str(dist)]
    answers = subprocess.run(command, input=lines, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in answers.stdout.splitlines()]
