"""The newest state of the model's task list."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from compactctl.history.read_calls import first_text
from compactctl.history.references import SourceRef
from compactctl.history.tool_names import kind_of
from compactctl.model.json_parser import parse_json
from compactctl.records import Record
from compactctl.summaries.extract.items import (
    TASK_LIST,
    ItemValue,
    SummaryItem,
    clip_to_line,
)
from compactctl.summaries.extract.passages import Passage, ToolPair

MAX_TASK_CHARS = 300
MAX_STATUS_CHARS = 30

_OPEN = ItemValue(1.0)
_DONE = ItemValue(0.15)
_NEXT_TASK = ItemValue(0.8)

# Arguments with a whole list, as objects or as a Markdown checklist: Claude Code, Codex, Gemini
# CLI, VS Code, OpenHands, Cline, Roo.
_LISTS = ("todos", "plan", "todoList", "task_list", "task_progress", "todo_list")
_TITLES = ("content", "step", "title", "subject", "description", "text")
_CHECKBOX = re.compile(
    r"^[^\S\n]*(?:[-*]|\d{1,4}\.)?[^\S\n]*\[( |[\w~/-][\w -]{0,20})\][^\S\n]*(\S.*)$", re.MULTILINE
)
_BOXES = {
    " ": "pending",
    "x": "completed",
    "-": "in_progress",
    "~": "in_progress",
    "/": "in_progress",
}
# The list that Cline's tools take beside their other arguments.
_PROGRESS = "task_progress"
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


class Task(Record, kw_only=False):
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


def task_items(
    passages: Sequence[Passage], following: Sequence[Passage] = ()
) -> Iterator[SummaryItem]:
    """Yield the newest task list for section 5, and its first open task for section 8.

    The passages that follow may change single tasks.
    """
    tasks = newest_tasks((*passages, *following))
    for position, task in enumerate(tasks):
        value = _DONE if task.is_done else _OPEN
        text = f"[{task.status}] {clip_to_line(task.title, MAX_TASK_CHARS)}"
        source = f" of {tasks[-1].ref}" if tasks[-1].ref.number else ""
        label = f"{TASK_LIST}{source}:"
        yield SummaryItem(section=5, label=label, text=text, value=value.at(0), position=position)
    open_tasks = [task for task in tasks if task.is_open]
    started = [task for task in open_tasks if task.status == "in_progress"]
    pending = [task for task in open_tasks if task.status == "pending"]
    for task in (started or pending or open_tasks)[:1]:
        yield SummaryItem(
            section=8,
            ref=task.ref.name,
            text=f"open task: {clip_to_line(task.title, MAX_TASK_CHARS)}",
            value=_NEXT_TASK.at(0),
            position=len(passages),
        )


def newest_tasks(passages: Iterable[Passage]) -> list[Task]:
    """Return the task list after all calls: the newest whole list, and single tasks added since.

    What only a text says that looks like a digest counts where there are no others.
    """
    whole: list[Task] | None = None
    reported: list[Task] = []
    single: dict[str, Task] = {}
    for passage in passages:
        pair = passage.pair if passage.kind == "call" else None
        tasks = _set_by(pair) if pair else _listed(passage)
        if tasks and not passage.is_proven:
            reported = tasks
        elif tasks is not None:
            whole, single = tasks, {}
        elif pair and pair.is_done and kind_of(pair.tool) == "tasks":
            whole, single = _updated(whole, single, pair)
    return [*(whole or ()), *single.values()] or (reported if whole is None else [])


def sets_tasks(passages: Iterable[Passage]) -> bool:
    """Whether a call sets the whole task list, perhaps to an empty one."""
    pairs = (passage.pair for passage in passages if passage.kind == "call")
    return any(pair is not None and _set_by(pair) is not None for pair in pairs)


def _listed(passage: Passage) -> list[Task] | None:
    """Return the tasks that an earlier digest lists, None if it lists none."""
    if passage.kind != "list" or passage.name != "tasks":
        return None
    matches = map(_LISTED.fullmatch, passage.text.split("\n"))
    return [Task(match["title"], match["status"], passage.ref) for match in matches if match]


def _set_by(pair: ToolPair) -> list[Task] | None:
    """Return the tasks of a call that sets the whole list, [] to empty it; None for other calls."""
    arguments, is_task_tool = pair.arguments, kind_of(pair.tool) == "tasks"
    # What the model meant is not what its client did.
    if pair.has_failed or _only_shows(arguments) or arguments.get("merge") is True:
        return None
    for key in _LISTS:
        value = arguments.get(key)
        if isinstance(value, str) and (is_task_tool or key == _PROGRESS):
            return _in_text(value, pair.ref, may_empty=is_task_tool)
        if isinstance(value, list):
            tasks = _in_list(value, pair.ref)
            # Tools of other names take lists of other things, too.
            return tasks if is_task_tool or (tasks and all(map(_has_state, value))) else None
    return None


def _only_shows(arguments: Mapping[str, object]) -> bool:
    return arguments.get("operation") == "read" or arguments.get("command") == "view"


def _in_text(text: str, ref: SourceRef, *, may_empty: bool) -> list[Task] | None:
    """Return the tasks in JSON or a checklist; None for other texts, of which nothing is known."""
    if text.lstrip().startswith("["):
        try:
            value = parse_json(text)
        except ValueError:
            value = None
        if isinstance(value, list):
            return _in_list(value, ref)
    tasks = [
        Task(title.strip(), _BOXES.get(box.casefold()) or _state(box), ref)
        for box, title in _CHECKBOX.findall(text)
    ]
    return tasks if tasks or (may_empty and not text.strip()) else None


def _in_list(entries: Sequence[object], ref: SourceRef) -> list[Task]:
    return [task for entry in entries if (task := _task(entry, ref))]


def _has_state(entry: object) -> bool:
    return isinstance(entry, Mapping) and any(key in entry for key in ("status", "state", "done"))


def _task(entry: object, ref: SourceRef) -> Task | None:
    if not isinstance(entry, Mapping):
        return None
    title = first_text(entry, _TITLES)
    return Task(title, _status(entry), ref) if title else None


def _status(entry: Mapping[str, object]) -> str:
    status = first_text(entry, ("status", "state"))
    is_done = entry.get("done") is True or entry.get("completed") is True
    return _state(status) if status else "completed" if is_done else "pending"


def _state(word: str) -> str:
    """Return Claude Code's word for a state, the client's own if it is not known."""
    word = clip_to_line(word, MAX_STATUS_CHARS)
    plain = re.sub(r"[\s-]+", "_", word.casefold())
    state = _STATES.get(plain, plain)
    return state if state in _DONE_STATES | _OPEN_STATES else word


def _updated(
    whole: list[Task] | None, single: dict[str, Task], pair: ToolPair
) -> tuple[list[Task] | None, dict[str, Task]]:
    """Return the tasks after a call that creates or changes single ones, by number or title."""
    arguments, ref = pair.arguments, pair.ref
    if pair.tool == _CREATE:
        created = _CREATED.search(pair.result.text) if pair.result else None
        title = first_text(arguments, _TITLES)
        if created and title:
            return whole, {**single, created[1]: Task(title, "pending", ref)}
    number = str(arguments.get("taskId"))
    is_found = pair.result is not None and "not found" not in pair.result.text
    if pair.tool == _UPDATE and is_found and number in single and "status" in arguments:
        return whole, {**single, number: Task(single[number].title, _status(arguments), ref)}
    entries = arguments.get(_LISTS[0])
    if arguments.get("merge") is True and isinstance(entries, list):
        changed = {task.title: task for task in _in_list(entries, ref)}
        same = [changed.pop(task.title, task) for task in whole or ()]
        return [*same, *changed.values()], single
    return whole, single
