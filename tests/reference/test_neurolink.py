"""compactctl's answers beside those of NeuroLink's own code, from a recorded sample."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from shutil import which
from typing import Any

import pytest
from reference.differences import explanation
from reference.ours import answer
from reference.questions import AREAS
from reference.sample import read_sample

RUN = Path(__file__).with_name("run.py")
SAMPLE = read_sample()
# What an area has of equal answers at least: a difference on purpose must not explain everything.
LEAST_EQUAL = {"conversation": 1, "tokens": 1, "file": 1, "files": 1, "file-budget": 1}
OTHERWISE = 0.3


@cache
def answers(area: str) -> tuple[tuple[Any, Any, Any], ...]:
    """Return the questions of an area with NeuroLink's answers and ours."""
    rows = [(question, theirs) for question, theirs in SAMPLE if question["area"] == area]
    return tuple((each, theirs, json.loads(json.dumps(answer(each)))) for each, theirs in rows)


@pytest.mark.parametrize("area", AREAS)
def test_answers_are_neurolinks_or_differ_on_purpose(area: str) -> None:
    rows = answers(area)
    outcomes: Counter[str] = Counter()
    for question, theirs, ours in rows:
        name = "equal" if ours == theirs else explanation(question, theirs, ours)
        assert name, {"question": question, "neurolink": theirs, "compactctl": ours}
        outcomes[name] += 1
    assert len(rows) >= 30
    assert outcomes["equal"] >= len(rows) * LEAST_EQUAL.get(area, OTHERWISE), outcomes


@pytest.mark.parametrize("area", AREAS)
def test_no_difference_explains_an_answer_that_is_wrong(area: str) -> None:
    rng, unnoticed, count = Random(0), 0, 0
    for question, theirs, ours in answers(area):
        wrong = broken(ours, rng)
        if wrong not in (ours, theirs):
            count += 1
            unnoticed += bool(explanation(question, theirs, wrong))
    assert unnoticed <= count // 20 < count


@pytest.mark.long
@pytest.mark.skipif(not (which("npm") and which("node")), reason="npm and Node are not installed")
def test_new_questions_are_answered_as_by_neurolinks_own_code() -> None:
    command = [sys.executable, str(RUN), "--count", "3000", "--seed", "3"]
    answers = subprocess.run(command, check=False, capture_output=True, text=True)
    assert answers.returncode == 0, answers.stdout + answers.stderr


def broken(ours: Any, rng: Random) -> Any:
    """Return an answer with a message or figure changed; the same if there is nothing to change."""
    match ours:
        case bool():
            return not ours
        case int() | float():
            return ours + 1
        case str():
            return ours[:-1]
        case [*items] if items:
            place = rng.randrange(len(items))
            return [*items[:place], broken(items[place], rng), *items[place + 1 :]]
        case {"after": after, **others}:
            places = [index for index, entry in enumerate(after) if isinstance(entry, int)]
            if not places:
                return ours
            place = rng.choice(places)
            changed = [] if rng.random() < 0.5 else [[after[place], "[Tool result cleared]"]]
            return {**others, "after": [*after[:place], *changed, *after[place + 1 :]]}
        case {"breakdown": _, **_others}:
            return {**ours, "estimatedInputTokens": ours["estimatedInputTokens"] + 1}
        case dict():
            key = next(iter(ours))
            return {**ours, key: broken(ours[key], rng)}
        case _:
            return ours
