import pytest
from builders import call, conversation, result

from compactctl.model.message import Message
from compactctl.summaries.extract.passages import read_passages, tool_pairs
from compactctl.summaries.extract.tasks import newest_tasks, task_items


def tasks(*messages: Message) -> list[tuple[str, str]]:
    found = newest_tasks(tool_pairs(read_passages(conversation(*messages))))
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
        call("4", "TaskUpdate", taskId="9", status="completed"),
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
    items = task_items(tool_pairs(read_passages(conversation(call("1", "update_plan", plan=plan)))))
    found = [(item.section, item.text) for item in items]
    assert found == [
        (5, "[completed] Done"),
        (5, "[pending] Waiting"),
        (5, "[in_progress] Started"),
        (8, "[L1] open task: Started"),
    ]
