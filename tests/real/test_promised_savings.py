"""What is promised of a compaction is what the provider reported for what is left.

The judge shares no calibration with the program: it adds up contexts that the provider reported.
Between two requests the context grew by an answer and by what entered after it. Hiding both gives
that back to the token, and hiding what was sent from request 3 to request 40 is one subtraction.
Only where a part of that is left is it shared out by counting.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from examples import LONG
from file_commands import load_file
from real.choice import FILES, client_of, is_written, name_of
from transcripts import FOLDER

from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.planning.plan import PlanOptions, Recipe, make_plan
from compactctl.commands.planning.run_stages import (
    SizedTranscript,
    StageInputs,
    StageRun,
    run_stages,
)
from compactctl.model.message import Message, ToolResultPart
from compactctl.model.transcript import Transcript
from compactctl.records import replace

# A share of the next request. The medians are 0.13% and 0.07%; what a client takes out of its
# context, or sends without writing it down, is in no file, so that single sessions are further off.
_OFF_IN_MEDIAN = 0.003
# With fewer requests since the context last fell little is known of what it holds.
_ENOUGH = 10
_LEAST = 30 if LONG and FOLDER.is_dir() else 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response: its messages by index, what was sent for it and its size, as reported."""

    indices: tuple[int, ...]
    context: int
    output: int | None

    @property
    def first(self) -> int:
        return self.indices[0]


@pytest.mark.parametrize(("stages", "most"), [("dedup prune", 0.02), ("window", 0.045)])
def test_what_is_left_is_promised_as_it_was_reported(stages: str, most: float) -> None:
    errors = dict(_errors(tuple(stages.split())))
    assert len(errors) >= _LEAST
    assert {name: error for name, error in errors.items() if abs(error) > most} == {}
    assert median(map(abs, errors.values())) < _OFF_IN_MEDIAN


def _errors(stages: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """Yield sessions, real and small ones first, with how far what is promised of each is off."""
    n_found = 0
    for path in sorted(FILES, key=lambda path: (is_written(path), path.stat().st_size)):
        if n_found == _LEAST and not LONG:
            return
        error = _error(path, stages)
        if error is not None:
            n_found += 1
            yield name_of(path), error


def _error(path: Path, stages: tuple[str, ...]) -> float | None:
    """Return how far a promise is off; None if little was reported or nothing is taken out."""
    known = _known(path)
    if len(known) < _ENOUGH:
        return None
    transcript, measured = _measured(path)
    messages = transcript.effective
    plan = make_plan(Recipe(plan=PlanOptions(stages=stages)), measured.limits)
    done = run_stages(SizedTranscript.of(transcript, measured), plan, StageInputs())
    if done.applied.after == messages:
        return None
    expected = _Judge(messages, done, measured).expected(known)
    return done.outcome.after.request_tokens / expected - 1


@cache
def _measured(path: Path) -> tuple[Transcript, Measurement]:
    transcript = load_file(path).transcript
    return transcript, measure(transcript, MeasureOptions())


@cache
def _known(path: Path) -> Sequence[Answer]:
    """Return the answers since the context last fell."""
    messages = load_file(path).transcript.effective
    answers = _answers(messages)
    falls = [
        place
        for place, (earlier, later) in enumerate(pairwise(answers), start=1)
        if later.context < earlier.context
        # Codex no longer sends the reasoning of a turn that has ended.
        and not (client_of(path) == "codex" and _has_new_turn(messages, earlier, later))
    ]
    return answers[max(falls, default=0) :]


def _answers(messages: Sequence[Message]) -> list[Answer]:
    by_name: dict[str, list[int]] = {}
    for index, message in enumerate(messages):
        name = message.response_id or (message.id if message.usage else None)
        if name is not None:
            by_name.setdefault(name, []).append(index)
    found = []
    for indices in by_name.values():
        usages = [usage for index in indices if (usage := messages[index].usage)]
        if usages and usages[0].context > 0:
            answer = Answer(
                indices=tuple(indices), context=usages[0].context, output=usages[-1].output
            )
            found.append(answer)
    return found


def _has_new_turn(messages: Sequence[Message], earlier: Answer, later: Answer) -> bool:
    return any(message.starts_turn for message in messages[earlier.first : later.first])


class _Judge:
    """Adds up what was reported for what a compaction left."""

    def __init__(self, before: Sequence[Message], done: StageRun, measured: Measurement) -> None:
        self._before = before
        self._after = {message.id: message for message in done.applied.after}
        self._count = measured.framed.visible

    def expected(self, answers: Sequence[Answer]) -> float:
        """Return the size of the next request."""
        newest = answers[-1]
        known = {message.id for message in self._before}
        written = sum(self._count(m) for name, m in self._after.items() if name not in known)
        end = range(newest.first, len(self._before))
        entered = sum(self._size(index) for index in end if index not in newest.indices)
        last = newest.context + self._answer_size(newest) + entered
        unreported = (*range(answers[0].first), *end)
        taken_out = sum(map(self._lost, unreported)) + sum(
            self._reported(earlier, later) for earlier, later in pairwise(answers)
        )
        return last - taken_out + written

    def _reported(self, answer: Answer, later: Answer) -> float:
        """Return what was reported for what is gone of an answer and of what entered after it."""
        block = range(answer.first, later.first)
        grown = later.context - answer.context
        left = [index for index in block if self._before[index].id in self._after]
        if not set(left) & set(answer.indices):
            return grown - sum(self._size(index) - self._lost(index) for index in left)
        entered = [index for index in block if index not in answer.indices]
        # Some clients write a result to the record of its call.
        size = sum(map(self._size, entered)) + self._results(answer)
        lost = sum(map(self._lost, block))
        return lost * (grown - self._answer_size(answer)) / size if lost else 0.0

    def _answer_size(self, answer: Answer) -> float:
        if answer.output is not None:
            return answer.output
        return sum(map(self._size, answer.indices)) - self._results(answer)

    def _results(self, answer: Answer) -> float:
        results = (
            replace(m, parts=tuple(part for part in m.parts if isinstance(part, ToolResultPart)))
            for m in (self._before[index] for index in answer.indices)
        )
        return sum(map(self._count, results))

    def _size(self, index: int) -> float:
        return self._count(self._before[index])

    def _lost(self, index: int) -> float:
        """Return the counted tokens of a message that are gone."""
        after = self._after.get(self._before[index].id)
        return self._size(index) - (self._count(after) if after else 0.0)
