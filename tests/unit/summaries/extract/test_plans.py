import pytest
from builders import call, conversation, result, user

from compactctl.model.message import Message
from compactctl.summaries.extract.passages import read_passages
from compactctl.summaries.extract.plans import plan_items

PLAN = """# Strict parser

Some prose.

1. Read the grammar
2. Write `StrictReader` so that it refuses what is not known to it
   and names the line
```python
# no heading
```
- Run the tests"""
STEPS = [
    "Strict parser",
    "Read the grammar",
    "Write `StrictReader` so that it refuses what is not known to it and names the line",
    "Run the tests",
]
ACCEPTED = (call("p", "ExitPlanMode", plan=PLAN), result("p", "User has approved your plan."))
HANDED_OVER = user(f"Implement the following plan:\n\n{PLAN}")


def told(*messages: Message) -> list[tuple[str, str]]:
    items = plan_items(read_passages(conversation(*messages)))
    return [(item.label, item.text) for item in items]


@pytest.mark.parametrize("messages", [ACCEPTED, (HANDED_OVER,)])
def test_the_steps_of_the_agreed_plan_are_told(messages: tuple[Message, ...]) -> None:
    assert told(*messages) == [("Current plan, agreed at [L1]:", step) for step in STEPS]


@pytest.mark.parametrize(
    ("answers", "label"),
    [
        ((), "Proposed plan, not agreed, of [L1]:"),
        ((result("p", "The plan was shown."),), "Proposed plan, not agreed, of [L1]:"),
        ((result("p", "The user doesn't want to proceed."),), "Rejected plan of [L1]:"),
        ((result("p", "No.", outcome="denied"),), "Rejected plan of [L1]:"),
    ],
)
def test_a_plan_is_called_agreed_only_if_the_user_agreed(
    answers: tuple[Message, ...], label: str
) -> None:
    assert told(ACCEPTED[0], *answers) == [(label, step) for step in STEPS]


def test_a_plan_that_could_not_be_presented_is_none() -> None:
    assert told(ACCEPTED[0], result("p", "You are not in plan mode.", is_error=True)) == []


def test_the_newest_plan_counts_and_a_newer_task_list_replaces_it() -> None:
    newer = (call("q", "ExitPlanMode", plan="1. Stop"), result("q", "User has approved it."))
    assert told(*ACCEPTED, *newer) == [("Current plan, agreed at [L3]:", "Stop")]
    todo = call("t", "TodoWrite", todos=[{"content": "Stop", "status": "pending"}])
    assert {label for label, _ in told(*ACCEPTED, todo)} == {"Agreed before, the plan of [L1]:"}
    proposed = told(*ACCEPTED, call("q", "ExitPlanMode", plan="1. Stop"))
    assert proposed[-1] == ("Proposed plan, not agreed, of [L3]:", "Stop")
    assert {label for label, _ in proposed[:-1]} == {"Current plan, agreed at [L1]:"}
