"""The task list as the model last left it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.summaries.extract.items import SummaryItem, Worth, one_line
from compactctl.summaries.extract.other_tools import first_text
from compactctl.summaries.extract.passages import Spot, ToolPair

TASK = 300
STATUS = 30

_OPEN = Worth(1.0)
_DONE = Worth(0.15)
_NEXT_TASK = Worth(0.8)

# Arguments that hold a whole list, as objects or as a Markdown checklist: Claude Code, Codex,
# Gemini CLI, VS Code, OpenHands, Cline, Roo.
_LISTS = ("todos", "plan", "todoList", "task_list", "task_progress", "todo_list")
_TITLES = ("content", "step", "title", "subject", "description", "text")
_CHECKBOX = re.compile(r"^\s*(?:[-*]|\d+\.)?\s*\[( |x|X|-|~)\]\s*(\S.*)$", re.MULTILINE)
_BOXES = {" ": "pending", "x": "completed", "X": "completed"}
_STATUSES = {"done": "completed", "todo": "pending", "not-started": "pending"}
# Claude Code 2.1 keeps tasks one by one; the number of a new one stands in the result.
_CREATE, _UPDATE = "TaskCreate", "TaskUpdate"
_CREATED = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class OpenTask:
    """One task with its status in the words of the client, mostly those of Claude Code."""

    title: str
    status: str
    spot: Spot

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.status in {"completed", "cancelled", "deleted"}


def task_items(pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield the newest task list for section 5, and its first open task for section 8."""
    tasks = newest_tasks(pairs)
    for place, task in enumerate(tasks):
        worth = _DONE if task.done else _OPEN
        text = f"[{task.status}] {one_line(task.title, TASK)}"
        label = f"Current plan, the task list of {tasks[-1].spot}:"
        yield SummaryItem(section=5, label=label, text=text, value=worth.at(0), place=place)
    waiting = [task for task in tasks if not task.done]
    started = [task for task in waiting if task.status != "pending"]
    for task in (started or waiting)[:1]:
        text = f"{task.spot} open task: {one_line(task.title, TASK)}"
        yield SummaryItem(section=8, text=text, value=_NEXT_TASK.at(0), place=len(pairs))


def newest_tasks(pairs: Sequence[ToolPair]) -> list[OpenTask]:
    """Return the task list after all calls: the newest whole list, or the tasks kept singly."""
    whole: list[OpenTask] = []
    single: dict[str, OpenTask] = {}
    for pair in pairs:
        listed = _listed(pair)
        if listed:
            whole, single = listed, {}
        elif pair.tool in {_CREATE, _UPDATE}:
            _keep(single, pair)
    return [*whole, *single.values()]


def _listed(pair: ToolPair) -> list[OpenTask]:
    for key in _LISTS:
        match pair.arguments.get(key):
            case str(text):
                return [
                    OpenTask(title.strip(), _BOXES.get(box, "in_progress"), pair.spot)
                    for box, title in _CHECKBOX.findall(text)
                ]
            case list(entries):
                return [task for entry in entries if (task := _task(entry, pair.spot))]
            case _:
                continue
    return []


def _task(entry: object, spot: Spot) -> OpenTask | None:
    if not isinstance(entry, Mapping):
        return None
    title = first_text(entry, _TITLES)
    status = one_line(first_text(entry, ("status",)) or "pending", STATUS)
    return OpenTask(title, _STATUSES.get(status, status), spot) if title else None


def _keep(tasks: dict[str, OpenTask], pair: ToolPair) -> None:
    """Carry out one call that creates or updates a single task."""
    if pair.tool == _CREATE:
        created = _CREATED.search(pair.result.text) if pair.result else None
        title = first_text(pair.arguments, _TITLES)
        if created and title:
            tasks[created[1]] = OpenTask(title, "pending", pair.spot)
        return
    number = str(pair.arguments.get("taskId"))
    status = first_text(pair.arguments, ("status",))
    if number in tasks and status:
        tasks[number] = OpenTask(tasks[number].title, one_line(status, STATUS), pair.spot)
