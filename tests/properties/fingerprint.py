"""Prints digests of compactions and their archives; run under different hash seeds by a test."""

import hashlib
from collections.abc import Mapping

from properties.jobs import CLAUDE, bench, written
from properties.plans import KINDS, Step

from compactctl.commands.compact.compact import compact
from compactctl.commands.planning.plan import PlanOptions
from compactctl.model.operation import OptionValue
from compactctl.stages.registry import ALL_STAGES
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.archive_file import read_rows

PLAN = tuple(
    Step(kind, number % 8, 30 * (number % 5), number % 12)
    for number, kind in enumerate((*KINDS[:16], "call", "parallel", "prompt", *KINDS[16:]))
)
EAGER: Mapping[str, Mapping[str, OptionValue]] = {
    "prune": {"min_savings": 0, "protect_tokens": 40},
    "summarize": {"keep_min": 2, "keep_ratio": 0.1},
}


def main() -> None:
    """Print one line per shape, set of stages and layout."""
    for shape in (CLAUDE, "codex", "openai lines"):
        for stages in ((), tuple(s.name for s in ALL_STAGES), ("prune",), ("summarize", "dedup")):
            for layout in ("split", "inline"):
                plan = PlanOptions(stages=stages, settings=EAGER)
                with bench(written(PLAN, shape).data) as at:
                    compact(at.options(plan=plan, layout=layout))
                    content = hashlib.sha256(at.out.read_bytes())
                    for file in Archive(archive_folder(at.out)).files:
                        content.update(repr((file.id, list(read_rows(file.path)))).encode())
                print(content.hexdigest())  # noqa: T201 - the test compares what is printed


main()
