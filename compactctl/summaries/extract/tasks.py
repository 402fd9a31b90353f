"""The newest state of the model's task list, and its newest plan."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from compactctl.history.read_calls import first_text
from compactctl.history.references import SourceRef
from compactctl.history.tool_names import kind_of
from compactctl.records import dataclass
from compactctl.summaries.extract.claims import CLAIMS
from compactctl.summaries.extract.items import (
    OLD_PLAN,
    PLAN,
    PROPOSED_PLAN,
    REJECTED_PLAN,
    TASK_LIST,
    ItemValue,
    SummaryItem,
    clip_middle,
    one_line,
)
from compactctl.summaries.extract.passages import Passage, ToolPair, tool_pairs
from compactctl.summaries.extract.sentences import unwrap
from compactctl.summaries.extract.user_words import user_requests

MAX_TASK_CHARS = 300
MAX_STATUS_CHARS = 30

_OPEN = ItemValue(1.0)
_DONE = ItemValue(0.15)
_NEXT_TASK = ItemValue(0.8)

# Arguments with a whole list, as objects or as a Markdown checklist: Claude Code, Codex, Gemini
# CLI, VS Code, OpenHands, Cline, Roo.
_LISTS = ("todos", "plan", "todoList", "task_list", "task_progress", "todo_list")
_TITLES = ("content", "step", "title", "subject", "description", "text")
_CHECKBOX = re.compile(r"^\s*(?:[-*]|\d+\.)?\s*\[( |x|X|-|~)\]\s*(\S.*)$", re.MULTILINE)
_BOXES = {" ": "pending", "x": "completed", "X": "completed"}
# The words of clients and models for a state, in lower case with "_" for blanks and "-".
_STATES = {
    "done": "completed",
    "complete": "completed",
    "finished": "completed",
    "closed": "completed",
    "todo": "pending",
    "to_do": "pending",
    "open": "pending",
    "not_started": "pending",
    "active": "in_progress",
    "doing": "in_progress",
    "started": "in_progress",
    "inprogress": "in_progress",
    "canceled": "cancelled",
    "removed": "deleted",
}
_DONE_STATES = frozenset({"completed", "cancelled", "deleted"})
_OPEN_STATES = frozenset({"pending", "in_progress", "blocked"})
# Claude Code 2.1 creates and updates single tasks; the result holds the number of a new one.
_CREATE, _UPDATE = "TaskCreate", "TaskUpdate"
_CREATED = re.compile(r"#(\d+)")
# A task as digests list it.
_LISTED = re.compile(r"\[(?P<status>[^\]]*)\] (?P<title>.+)")

# How many steps of a plan are quoted, and characters of each.
MAX_STEPS = 40
MAX_STEP_CHARS = 300

_CURRENT_PLAN = ItemValue(0.5)
_OTHER_PLAN = ItemValue(0.12)

# The start of a request that hands over a plan; clients write one, too, when a plan is accepted.
_PLAN_REQUEST = re.compile(
    r"\W*(?:implement|execute|follow|carry out)\b.{0,30}\bplan\b", re.IGNORECASE
)
_STEP = re.compile(r"\s*(?:#{1,6}|[-*+]|\d{1,2}[.)])\s+(\S.*)")
_CODE_FENCE = "```"
_PLAN_LABELS = {"proposed": f"{PROPOSED_PLAN}, of", "rejected": f"{REJECTED_PLAN} of"}


@dataclass(frozen=True, slots=True)
class Task:
    """A task; ``status`` is Claude Code's word if the client has a variant of it."""

    title: str
    status: str
    ref: SourceRef

    @property
    def is_done(self) -> bool:
        """Whether it needs no more work."""
        return self.status in _DONE_STATES

    @property
    def is_open(self) -> bool:
        """Whether it is known to need more work."""
        return self.status in _OPEN_STATES


def task_items(passages: Sequence[Passage]) -> Iterator[SummaryItem]:
    """Yield the newest task list for section 5, and its first open task for section 8."""
    tasks = newest_tasks(passages)
    for position, task in enumerate(tasks):
        value = _DONE if task.is_done else _OPEN
        text = f"[{task.status}] {one_line(task.title, MAX_TASK_CHARS)}"
        source = f" of {tasks[-1].ref}" if tasks[-1].ref.number else ""
        label = f"{TASK_LIST}{source}:"
        yield SummaryItem(section=5, label=label, text=text, value=value.at(0), position=position)
    open_tasks = [task for task in tasks if task.is_open]
    started = [task for task in open_tasks if task.status != "pending"]
    for task in (started or open_tasks)[:1]:
        yield SummaryItem(
            section=8,
            ref=task.ref.name,
            text=f"open task: {one_line(task.title, MAX_TASK_CHARS)}",
            value=_NEXT_TASK.at(0),
            position=len(passages),
        )


def newest_tasks(passages: Iterable[Passage]) -> list[Task]:
    """Return the task list after all calls: the newest whole list, and single tasks added since.

    What only a text says that looks like a digest counts where there are no others.
    """
    whole: list[Task] = []
    reported: list[Task] = []
    single: dict[str, Task] = {}
    for passage in passages:
        pair = passage.pair if passage.kind == "call" else None
        # What the model meant is not what its client did.
        if pair and pair.has_failed:
            continue
        tasks = _whole_list(pair) if pair else _listed(passage)
        if tasks and not passage.is_proven:
            reported = tasks
        elif tasks is not None:
            whole, single = tasks, {}
        elif pair and pair.tool in {_CREATE, _UPDATE}:
            _apply_update(single, pair)
    return [*whole, *single.values()] or reported


def _listed(passage: Passage) -> list[Task] | None:
    """Return the tasks that an earlier digest lists, None if it lists none."""
    if passage.kind != "list" or passage.name != "tasks":
        return None
    matches = map(_LISTED.fullmatch, passage.text.split("\n"))
    return [Task(match["title"], match["status"], passage.ref) for match in matches if match]


def _whole_list(pair: ToolPair) -> list[Task] | None:
    """Return the tasks of a call that sets the whole list, [] to empty it; None for other calls."""
    for key in _LISTS:
        match pair.arguments.get(key):
            case str(text):
                return [
                    Task(title.strip(), _BOXES.get(box, "in_progress"), pair.ref)
                    for box, title in _CHECKBOX.findall(text)
                ]
            case list(entries):
                return [task for entry in entries if (task := _task(entry, pair.ref))]
            case _:
                continue
    return None


def _task(entry: object, ref: SourceRef) -> Task | None:
    if not isinstance(entry, Mapping):
        return None
    title = first_text(entry, _TITLES)
    return Task(title, _status(entry), ref) if title else None


def _status(entry: Mapping[str, object]) -> str:
    status = one_line(first_text(entry, ("status", "state")) or "pending", MAX_STATUS_CHARS)
    plain = re.sub(r"[\s-]+", "_", status.casefold())
    state = _STATES.get(plain, plain)
    return state if state in _DONE_STATES | _OPEN_STATES else status


def _apply_update(tasks: dict[str, Task], pair: ToolPair) -> None:
    """Apply a call that creates or updates a single task to ``tasks``, which are by number."""
    if pair.tool == _CREATE:
        created = _CREATED.search(pair.result.text) if pair.result else None
        title = first_text(pair.arguments, _TITLES)
        if created and title:
            tasks[created[1]] = Task(title, "pending", pair.ref)
        return
    number = str(pair.arguments.get("taskId"))
    if number in tasks and first_text(pair.arguments, ("status",)):
        tasks[number] = Task(tasks[number].title, _status(pair.arguments), pair.ref)


class _Plan(NamedTuple):
    """A plan, and whether the user agreed to it: as ``ClaimWords.plan`` says it."""

    ref: SourceRef
    text: str
    state: str


def plan_items(passages: Sequence[Passage]) -> Iterator[SummaryItem]:
    """Yield the steps of the newest plan; they count less if a newer task list exists."""
    plan = _newest_plan(passages)
    if plan is None:
        return
    is_replaced = any(task.ref.position > plan.ref.position for task in newest_tasks(passages))
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


def _newest_plan(passages: Sequence[Passage]) -> _Plan | None:
    requested = [
        _Plan(passage.ref, text, "agreed")
        for passage, text in user_requests(passages)
        if _PLAN_REQUEST.match(text)
    ]
    presented = [
        _Plan(pair.ref, text, CLAIMS[pair.outcome].plan)
        for pair in tool_pairs(passages)
        if kind_of(pair.tool) == "plan"
        if CLAIMS[pair.outcome].plan and (text := first_text(pair.arguments, ("plan",)))
    ]
    return max((*requested, *presented), key=lambda plan: plan.ref.position, default=None)


def _steps(text: str) -> list[str]:
    """Return the headings and list items of a plan, except those in code blocks."""
    steps, is_code = [], False
    for line in unwrap(text).split("\n"):
        is_code ^= line.strip().startswith(_CODE_FENCE)
        step = None if is_code else _STEP.fullmatch(line.rstrip())
        if step:
            steps.append(step[1])
    return steps
