"""The plans of a conversation, and whether the user agreed to them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from compactctl.history.read_calls import first_text
from compactctl.history.references import SourceRef
from compactctl.history.tool_names import kind_of
from compactctl.summaries.extract.claims import CLAIMS
from compactctl.summaries.extract.items import (
    OLD_PLAN,
    PLAN,
    PROPOSED_PLAN,
    REJECTED_PLAN,
    ItemValue,
    SummaryItem,
    clip_middle,
)
from compactctl.summaries.extract.passages import Passage, tool_pairs
from compactctl.summaries.extract.sentences import unwrap
from compactctl.summaries.extract.tasks import newest_tasks
from compactctl.summaries.extract.user_words import user_requests

# How many steps of a plan are quoted, and characters of each.
MAX_STEPS = 40
MAX_STEP_CHARS = 300

_CURRENT_PLAN = ItemValue(0.5)
_OTHER_PLAN = ItemValue(0.12)

# The start of a request that hands over a plan; clients write one, too, when a plan is accepted.
_PLAN_REQUEST = re.compile(
    r"\W*(?:please )?(?:implement|execute|carry out|follow) (?:the|this|that) "
    r"(?:(?:following|approved|agreed|attached|accepted) )?plan\b(?!\?)",
    re.IGNORECASE,
)
_STEP = re.compile(r"\s*(?:#{1,6}|[-*+]|\d{1,2}[.)])\s+(\S.*)")
_CODE_FENCE = "```"
_PLAN_LABELS = {"proposed": f"{PROPOSED_PLAN}, of", "rejected": f"{REJECTED_PLAN} of"}


class _Plan(NamedTuple):
    """A plan, and whether the user agreed to it: as ``ClaimWords.plan`` says it."""

    ref: SourceRef
    text: str
    state: str


def plan_items(passages: Sequence[Passage]) -> Iterator[SummaryItem]:
    """Yield the steps of the newest plan, and of the newest agreed one before it.

    They count less if a newer task list exists.
    """
    plans = _plans(passages)
    agreed = [plan for plan in plans if plan.state == "agreed"]
    tasks = newest_tasks(passages)
    for plan in dict.fromkeys((*agreed[-1:], *plans[-1:])):
        is_replaced = any(task.ref.position > plan.ref.position for task in tasks)
        label = f"{OLD_PLAN}, the plan of" if is_replaced else f"{PLAN} at"
        label = _PLAN_LABELS.get(plan.state, label)
        is_current = plan.state == "agreed" and not is_replaced
        value = _CURRENT_PLAN if is_current else _OTHER_PLAN
        for position, step in enumerate(_steps(plan.text)[:MAX_STEPS]):
            yield SummaryItem(
                section=5,
                label=f"{label} {plan.ref}:",
                text=clip_middle(step, MAX_STEP_CHARS),
                value=value.at(0),
                position=position,
            )


def _plans(passages: Sequence[Passage]) -> list[_Plan]:
    """Return the plans in order; a call that could not present its plan has none."""
    requested = [
        _Plan(passage.ref, text, "agreed")
        for passage, text in user_requests(passages)
        if _PLAN_REQUEST.match(text)
    ]
    presented = [
        _Plan(pair.ref, text, state)
        for pair in tool_pairs(passages)
        if kind_of(pair.tool) == "plan"
        if (state := CLAIMS[pair.outcome].plan) and (text := first_text(pair.arguments, ("plan",)))
    ]
    return sorted((*requested, *presented), key=lambda plan: plan.ref.position)


def _steps(text: str) -> list[str]:
    """Return the headings and list items of a plan, except those in code blocks."""
    steps, is_code = [], False
    for line in unwrap(text).split("\n"):
        is_code ^= line.strip().startswith(_CODE_FENCE)
        step = None if is_code else _STEP.fullmatch(line.rstrip())
        if step:
            steps.append(step[1])
    return steps
