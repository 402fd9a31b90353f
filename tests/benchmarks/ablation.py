"""Measures what parts of the default profile add, on the sessions on which they were tuned.

``python tests/benchmarks/ablation.py FOLDER --cache FOLDER --before CHECKOUT`` takes the sessions
that ``sessions.toml`` lists from the first folder, and renews the table of ``docs/quality.md``. The
second folder keeps results by commit, so that an interrupted run continues.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import ROOT, ResultCache, commit_of, describe_origin
from benchmarks.quality import EARLIER, Checkout, Result, compare_with_earlier, find_benches
from benchmarks.quality_tables import summarize_sessions
from benchmarks.sessions import find_sessions
from benchmarks.tables import paragraph, renew, table
from compactctl.lab.reuse import REUSE_MEASURES
from compactctl.profiles.registry import DEFAULT_PROFILE as DEFAULT
from compactctl.summaries.digest import digest, fragments, hunks, lines

PAGE = ROOT / "docs" / "quality.md"
MARK = "ablation"
SHARES = (0.3, 0.1)
_READ = frozenset({"read", "look"})
# What is different in each variant: module, name, value.
VARIANTS: Mapping[str, Sequence[tuple[Any, str, Any]]] = {
    "as it is": (),
    "without hunks": ((digest, "find_hunks", lambda *_: []),),
    "hunks only of what was read": ((fragments, "_WORK_KINDS", _READ),),
    "written hunks worth as much as read ones": ((hunks, "_WRITTEN_SCALE", 1.0),),
    "with line numbers": ((lines, "without_line_marks", str),),
}


def measure_variants(path: Path) -> list[dict[str, Any]]:
    """Return what every variant keeps at each cut of a session."""
    rows: list[dict[str, Any]] = []
    for bench in find_benches(path):
        for variant, changes in VARIANTS.items():
            with ExitStack() as stack:
                for module, name, value in changes:
                    stack.enter_context(patch.object(module, name, value))
                rows += (
                    {"policy": variant, "asked": share, "shares": bench.shares(DEFAULT, share)}
                    for share in SHARES
                )
    return rows


def variant_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    """Yield the mean over sessions of each measure, for every variant and share."""
    for policy, asked in dict.fromkeys((result.policy, result.asked) for result in results):
        chosen = [r for r in results if (r.policy, r.asked) == (policy, asked)]
        means = (
            summarize_sessions((r, 100 * r.shares[name]) for r in chosen if name in r.shares)
            for name in REUSE_MEASURES
        )
        yield policy, f"{asked:.0%}", *(f"{mean.mean:.1f}" if mean else "" for mean in means)


def main() -> None:
    """Measure what is not measured yet, and renew the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--before", type=Path, required=True, help="another checkout")
    arguments = parser.parse_args()
    origin = describe_origin(Path(__file__).name)
    folder = arguments.cache / commit_of(ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    cache = ResultCache(folder / "ablation.jsonl")
    before = Checkout(commit_of(arguments.before), arguments.before.resolve())
    results: list[Result] = []
    for session in find_sessions(arguments.folder):
        if not session.is_untouched:
            rows = cache.get_or_measure(session.name, partial(measure_variants, session.path))
            compare = partial(compare_with_earlier, session.path, before)
            earlier = cache.get_or_measure(f"{session.name} {before.commit}", compare)
            results += (
                Result(session=session.name, project=session.project, **row)
                for row in (*rows, *earlier)
                if row["asked"] in SHARES
            )
    sessions = summarize_sessions((result, 0.0) for result in results)
    tables = [
        origin,
        paragraph(
            f"Means over {sessions.sessions if sessions else 0} sessions of the projects on which"
            f" constants were chosen, in percent. *{EARLIER.title()}* is commit {before.commit}."
        ),
        table(("Variant", "Asked", *REUSE_MEASURES.values()), variant_rows(results)),
    ]
    PAGE.write_text(renew(PAGE.read_text(), "\n\n".join(tables), MARK))


if __name__ == "__main__":
    main()
