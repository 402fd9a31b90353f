"""The newest plan that was agreed on, step by step."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from compactctl.summaries.extract.items import SummaryItem, Worth, clipped
from compactctl.summaries.extract.other_tools import first_text
from compactctl.summaries.extract.outcomes import failed
from compactctl.summaries.extract.passages import Passage, Spot, tool_pairs
from compactctl.summaries.extract.sentences import unwrapped
from compactctl.summaries.extract.tasks import newest_tasks
from compactctl.summaries.extract.user_requests import requests

# Steps quoted of a plan, and characters of each.
STEPS = 40
STEP = 300

_CURRENT = Worth(0.5)
_REPLACED = Worth(0.12)

# Tools by which a model presents a plan, in lower case: Claude Code, Gemini CLI.
_PRESENTING = frozenset({"exitplanmode", "exit_plan_mode"})
# How a person hands over a plan; clients do so too when one was accepted.
_HANDED_OVER = re.compile(
    r"\W*(?:implement|execute|follow|carry out)\b.{0,30}\bplan\b", re.IGNORECASE
)
_STEP = re.compile(r"\s*(?:#{1,6}|[-*+]|\d{1,2}[.)])\s+(\S.*)")
_CODE_FENCE = "```"


class _Plan(NamedTuple):
    spot: Spot
    text: str


def plan_items(passages: Sequence[Passage]) -> Iterator[SummaryItem]:
    """Yield the steps of the newest agreed plan; a newer task list has taken its place."""
    plan = _newest_plan(passages)
    if plan is None:
        return
    replaced = any(task.spot > plan.spot for task in newest_tasks(tool_pairs(passages)))
    label = "Agreed before, the plan of" if replaced else "Current plan, agreed at"
    worth = _REPLACED if replaced else _CURRENT
    for place, step in enumerate(_steps(plan.text)[:STEPS]):
        yield SummaryItem(
            section=5,
            label=f"{label} {plan.spot}:",
            text=clipped(step, STEP),
            value=worth.at(0),
            place=place,
        )


def _newest_plan(passages: Sequence[Passage]) -> _Plan | None:
    handed = [
        _Plan(passage.spot, text)
        for passage, text in requests(passages)
        if _HANDED_OVER.match(text)
    ]
    accepted = [
        _Plan(pair.spot, text)
        for pair in tool_pairs(passages)
        if pair.tool.lower() in _PRESENTING and pair.result is not None and not failed(pair)
        if (text := first_text(pair.arguments, ("plan",)))
    ]
    return max((*handed, *accepted), key=lambda plan: plan.spot, default=None)


def _steps(text: str) -> list[str]:
    """Return the headings and list items of a plan, none of which stands in code."""
    steps, code = [], False
    for line in unwrapped(text).split("\n"):
        code ^= line.strip().startswith(_CODE_FENCE)
        found = None if code else _STEP.fullmatch(line.rstrip())
        if found:
            steps.append(found[1])
    return steps
