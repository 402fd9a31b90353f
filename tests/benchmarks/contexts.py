"""Prints what the default profile of another checkout keeps of a session.

``quality.py`` runs it with that checkout first on the path, so it only uses what both have. It
prints a list with an object per cut of the longest stretch: its ``name``, and the ``texts`` without
reasoning of the context for each share.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compactctl
from compactctl.commands.lab.eval_session import CutOptions, EvaluatedSession, policies_of
from compactctl.lab.text_content import without_reasoning
from compactctl.profiles.registry import DEFAULT_PROFILE
from compactctl.summaries.extract.passages import read_passages


def cut_and_compact(path: str, cuts: str, shares: str) -> Iterator[dict[str, Any]]:
    """Yield the contexts at each cut of the session's longest stretch."""
    session = EvaluatedSession(path, CutOptions(at=tuple(map(float, cuts.split(",")))))
    (default,) = policies_of((DEFAULT_PROFILE,), (), {})
    longest = max(session.cases, key=lambda case: case.cut.tokens, default=None)
    for case in session.cases:
        if longest is None or case.cut.prefix[0].id != longest.cut.prefix[0].id:
            continue
        contexts = (session.context(case, default, float(share)) for share in shares.split(","))
        yield {
            "name": f"{case.cut.prefix[-1].id} {len(case.cut.future)}",
            "texts": [
                [passage.text for passage in without_reasoning(read_passages(context))]
                for context in contexts
            ],
        }


if __name__ == "__main__":
    checkout, *arguments = sys.argv[1:]
    if not Path(compactctl.__file__).is_relative_to(checkout):
        sys.exit(f"{compactctl.__file__} is not in {checkout}")
    json.dump(list(cut_and_compact(*arguments)), sys.stdout)
