"""compactctl's answers beside those of NeuroLink's own code, from a recorded sample."""

import json
from collections import Counter

import pytest
from reference.differences import explanation
from reference.ours import answer
from reference.questions import AREAS
from reference.sample import read_sample

SAMPLE = read_sample()
# What an area has of equal answers at least: a difference on purpose must not explain everything.
LEAST_EQUAL = {"conversation": 1, "tokens": 1, "file": 1, "files": 1, "file-budget": 1}
OTHERWISE = 0.3


@pytest.mark.parametrize("area", AREAS)
def test_answers_are_neurolinks_or_differ_on_purpose(area: str) -> None:
    rows = [(question, theirs) for question, theirs in SAMPLE if question["area"] == area]
    outcomes: Counter[str] = Counter()
    for question, theirs in rows:
        ours = json.loads(json.dumps(answer(question)))
        name = "equal" if ours == theirs else explanation(question, theirs, ours)
        assert name, {"question": question, "neurolink": theirs, "compactctl": ours}
        outcomes[name] += 1
    assert len(rows) >= 30
    assert outcomes["equal"] >= len(rows) * LEAST_EQUAL.get(area, OTHERWISE), outcomes
