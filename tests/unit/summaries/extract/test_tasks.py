import pytest
from builders import call, conversation, result

from compactctl.model.message import Message
from compactctl.summaries.extract.items import SummaryItem
from compactctl.summaries.extract.passages import read_passages
from compactctl.summaries.extract.tasks import newest_tasks, task_items


def tasks(*messages: Message) -> list[tuple[str, str]]:
    found = newest_tasks(read_passages(conversation(*messages)))
    return [(task.title, task.status) for task in found]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            "TodoWrite",
            {
                "todos": [
                    {"content": "Read", "status": "completed", "activeForm": "Reading"},
                    {"content": "Write", "status": "in_progress", "activeForm": "Writing"},
                ]
            },
        ),
        (
            "update_plan",
            {
                "explanation": "go",
                "plan": [
                    {"step": "Read", "status": "completed"},
                    {"step": "Write", "status": "in_progress"},
                ],
            },
        ),
        ("update_todo_list", {"todos": "[x] Read\n[-] Write"}),
        ("read_file", {"path": "a", "task_progress": "- [x] Read\n  - [~] Write"}),
    ],
)
def test_task_lists_of_several_clients_are_read(tool: str, arguments: dict[str, object]) -> None:
    assert tasks(call("1", tool, **arguments)) == [("Read", "completed"), ("Write", "in_progress")]


def test_the_newest_list_replaces_the_older_one() -> None:
    found = tasks(
        call("1", "TodoWrite", todos=[{"content": "old", "status": "pending"}]),
        call("2", "TodoWrite", todos=[{"content": "new", "status": "pending"}]),
    )
    assert found == [("new", "pending")]


def test_tasks_kept_one_by_one_follow_their_updates() -> None:
    found = tasks(
        call("1", "TaskCreate", subject="Read", description="Read all"),
        result("1", "Task #1 created successfully: Read"),
        call("2", "TaskCreate", subject="Write", description="Write all"),
        result("2", "Task #2 created successfully: Write"),
        call("3", "TaskUpdate", taskId="1", status="completed"),
        result("3", "Updated task #1 status"),
        call("4", "TaskUpdate", taskId="9", status="completed"),
        result("4", "Task not found"),
        call("5", "TaskUpdate", taskId="2", status="completed"),
    )
    assert found == [("Read", "completed"), ("Write", "pending")]


def test_a_plan_in_prose_is_no_task_list() -> None:
    assert tasks(call("1", "ExitPlanMode", plan="First read, then write.")) == []


def test_a_started_task_comes_next_before_a_waiting_one() -> None:
    plan = [
        {"step": "Done", "status": "completed"},
        {"step": "Waiting", "status": "pending"},
        {"step": "Started", "status": "in_progress"},
    ]
    items = task_items(read_passages(conversation(call("1", "update_plan", plan=plan))))
    found = [(item.section, item.ref, item.text) for item in items]
    assert found == [
        (5, "", "[completed] Done"),
        (5, "", "[pending] Waiting"),
        (5, "", "[in_progress] Started"),
        (8, "L1", "open task: Started"),
    ]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"todos": []}, []),
        ({"todos": "no list"}, []),
        ({"todos": [{"status": "done"}, "text", {"content": " "}]}, []),
        ({"todos": [{"title": "A"}]}, [("A", "pending")]),
        ({"todos": [{"content": "A", "status": "done"}]}, [("A", "completed")]),
        ({"todos": [{"content": "A", "status": "todo"}]}, [("A", "pending")]),
        ({"todos": [{"content": "A", "status": "blocked"}]}, [("A", "blocked")]),
        ({"plan": 3, "todoList": [{"title": "A"}]}, [("A", "pending")]),
        ({"task_list": "1. [X] A\n* [ ]  B \n[?] C"}, [("A", "completed"), ("B", "pending")]),
        ({"other": [{"content": "A"}]}, []),
    ],
)
def test_what_a_list_of_tasks_is(
    arguments: dict[str, object], found: list[tuple[str, str]]
) -> None:
    assert tasks(call("1", "TodoWrite", **arguments)) == found


def test_single_tasks_come_behind_the_newest_list() -> None:
    messages = (
        call("0", "TaskCreate", subject="gone"),
        result("0", "Task #1 created"),
        call("a", "TodoWrite", todos=[{"content": "whole"}]),
        call("1", "TaskCreate", subject="A"),
        result("1", "Task #7 created"),
        call("2", "TaskCreate", subject="B"),
        result("2", "no number"),
        call("3", "TaskCreate", subject="C"),
        result("3", "Task #8 created"),
        call("4", "TaskUpdate", taskId=7, status="completed"),
        result("4", "Updated task #7 status"),
        call("5", "TaskUpdate", taskId="8", owner="me"),
        call("6", "TaskUpdate", taskId="9", status="completed"),
        call("7", "TaskCreate"),
        result("7", "Task #5 created"),
    )
    assert tasks(*messages) == [("whole", "pending"), ("A", "completed"), ("C", "pending")]


def items(*messages: Message) -> list[SummaryItem]:
    return list(task_items(read_passages(conversation(*messages))))


@pytest.mark.parametrize(
    ("statuses", "following"),
    [
        (["completed", "pending", "pending"], "B"),
        (["pending", "in_progress", "pending"], "B"),
        (["completed", "completed", "cancelled"], None),
        (["deleted", "completed", "blocked"], "C"),
    ],
)
def test_the_first_task_at_work_comes_next_else_the_first_open_one(
    statuses: list[str], following: str | None
) -> None:
    entries = [
        {"content": name, "status": status} for name, status in zip("ABC", statuses, strict=True)
    ]
    found = items(call("1", "Bash", command="ls"), call("2", "TodoWrite", todos=entries))
    listed, rest = found[:3], found[3:]
    assert [(item.section, item.text, item.position) for item in listed] == [
        (5, f"[{status}] {name}", n)
        for n, (name, status) in enumerate(zip("ABC", statuses, strict=True))
    ]
    assert {item.label for item in listed} == {"Current plan, the task list of [L2]:"}
    done = {"completed", "cancelled", "deleted"}
    assert [item.value for item in listed] == [0.15 if each in done else 1.0 for each in statuses]
    expected = [(8, "L2", f"open task: {following}", 0.8, 2)] if following else []
    assert [
        (item.section, item.ref, item.text, item.value, item.position) for item in rest
    ] == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "found"),
    [
        ("any", {"todos": [{"content": "A", "status": "done"}]}, [("A", "completed")]),
        ("any", {"todos": [{"content": "A"}]}, [("Old", "pending")]),
        ("any", {"todos": []}, [("Old", "pending")]),
        ("ExitPlanMode", {"plan": "1. Stop"}, [("Old", "pending")]),
        ("read_file", {"task_progress": ""}, [("Old", "pending")]),
        ("read_file", {"task_progress": "- [x] A"}, [("A", "completed")]),
        ("manage_todo_list", {"operation": "read", "todoList": []}, [("Old", "pending")]),
        ("task_tracker", {"command": "view", "task_list": []}, [("Old", "pending")]),
        ("TodoWrite", {"todos": []}, []),
        ("TodoWrite", {"todos": '[{"content": "A", "status": "completed"}]'}, [("A", "completed")]),
        ("TodoWrite", {"todos": "1. [in_progress] A"}, [("A", "in_progress")]),
        ("TodoWrite", {"todos": [{"text": "A", "done": True}]}, [("A", "completed")]),
        ("TodoWrite", {"todos": [{"content": "A", "status": "Half way"}]}, [("A", "Half way")]),
    ],
)
def test_what_replaces_a_list_of_tasks(
    tool: str, arguments: dict[str, object], found: list[tuple[str, str]]
) -> None:
    old = call("0", "TodoWrite", todos=[{"content": "Old", "status": "pending"}])
    assert tasks(old, result("0", "ok"), call("1", tool, **arguments), result("1", "ok")) == found


def test_a_list_that_was_not_taken_replaces_none() -> None:
    old = call("0", "TodoWrite", todos=[{"content": "Old", "status": "pending"}])
    new = call("1", "TodoWrite", todos=[{"content": "A", "status": "completed"}])
    refused = result("1", "InputValidationError: todos is missing")
    assert tasks(old, result("0", "ok"), new, refused) == [("Old", "pending")]
