"""Ask NeuroLink's own code and compactctl the same random questions, and compare the answers.

    python tests/reference/run.py --count 10000 --seed 1
    python tests/reference/run.py --area truncate --area compact
    python tests/reference/run.py --record

Needs Node 20 or later and npm, which fetches the package into ``--folder`` (default: a temporary
one). Prints for each area how many answers are equal, how many differ on purpose
(``differences.py`` says why) and how many are unexplained, with the first of these in full.
``--record`` renews the sample that ``test_neurolink.py`` compares in every run.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT), str(ROOT / "tests")]

from reference.differences import DIFFERENCES, explanation
from reference.ours import answer
from reference.questions import AREAS, Question, questions
from reference.sample import write_sample
from reference.upstream import VERSION, ask, fetch

# The recorded questions: so many, by this seed.
_SAMPLE = (510, 0)
_BATCH = 2_000
_UNEXPLAINED = "unexplained"


def main() -> int:
    """Compare as the command line says; return 1 if a difference is unexplained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--area", choices=tuple(AREAS), action="append", default=[])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        dist = fetch(options.folder or Path(name))
        if options.record:
            chosen = list(questions(_SAMPLE[1], _SAMPLE[0]))
            write_sample(chosen, ask(dist, chosen), VERSION)
            return 0
        outcomes: Counter[tuple[str, str]] = Counter()
        for batch in _batches(questions(options.seed, options.count), options.area):
            for question, theirs in zip(batch, ask(dist, batch), strict=True):
                outcomes[question["area"], _compare(question, theirs, outcomes)] += 1
    _print(outcomes)
    return int(any(outcome == _UNEXPLAINED for _, outcome in outcomes))


def _batches(asked: Iterable[Question], areas: list[str]) -> Iterable[list[Question]]:
    batch: list[Question] = []
    for question in asked:
        if not areas or question["area"] in areas:
            batch.append(question)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch


def _compare(question: Question, theirs: Any, outcomes: Counter[tuple[str, str]]) -> str:
    ours = json.loads(json.dumps(answer(question)))
    if ours == theirs:
        return ""
    name = explanation(question, theirs, ours) or _UNEXPLAINED
    if name == _UNEXPLAINED and not outcomes[question["area"], name]:
        print(json.dumps({"question": question, "neurolink": theirs, "compactctl": ours}, indent=1))
    return name


def _print(outcomes: Counter[tuple[str, str]]) -> None:
    print(f"{sum(outcomes.values()):,} questions to NeuroLink {VERSION}")
    for area in AREAS:
        counts = {name: count for (of, name), count in outcomes.items() if of == area}
        differing = ", ".join(f"{name}: {counts[name]:,}" for name in sorted(counts) if name)
        print(f"{area:12} {sum(counts.values()):7,} equal {counts.get('', 0):7,}  {differing}")
    for difference in DIFFERENCES:
        total = sum(count for (_, name), count in outcomes.items() if name == difference.name)
        print(f"{total:7,}  {difference.name}: {difference.reason}")


if __name__ == "__main__":
    sys.exit(main())
