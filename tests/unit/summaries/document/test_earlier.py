from builders import call, conversation, summary, user

from compactctl.summaries.document.earlier_summary import earlier_items
from compactctl.summaries.extract.passages import read_passages

TEXT = """This session is being continued from a previous conversation.

<summary>
1. Primary Request and Intent:
   The user wants a strict parser.

## 3. Files and Code
- parser.py: holds `Reader`
```python
def code(): ...
```
**Pending Tasks:**
   - Write tests
</summary>
If you need specific details from before compaction, read the transcript."""


def test_points_stand_under_the_sections_their_headings_name() -> None:
    found = [
        (item.section, item.label, item.text)
        for item in earlier_items(read_passages(conversation(user("hi"), summary(TEXT))))
    ]
    label = "Earlier summary [L2]:"
    assert found == [
        (1, label, "The user wants a strict parser."),
        (3, label, "parser.py: holds `Reader`"),
        (5, label, "Write tests"),
    ]


def test_only_the_newest_summary_is_quoted() -> None:
    items = earlier_items(read_passages(conversation(summary("Old point"), summary("New point"))))
    assert [item.text for item in items] == ["New point"]


def test_a_summary_without_headings_is_history() -> None:
    items = list(earlier_items(read_passages(conversation(summary("We fixed it.\nIt works.")))))
    assert [(item.section, item.text) for item in items] == [
        (6, "We fixed it."),
        (6, "It works."),
    ]


def test_a_heading_without_words_changes_nothing() -> None:
    items = earlier_items(read_passages(conversation(summary("## Pending\n# \n- Write tests"))))
    assert [(item.section, item.text) for item in items] == [(5, "Write tests")]


def test_what_was_pending_then_is_history_beside_a_newer_task_list() -> None:
    todo = call("t", "TodoWrite", todos=[{"content": "Write tests", "status": "completed"}])
    for messages, section in (
        ((todo, summary("## Pending\n- Write tests")), 5),
        ((summary("## Pending\n- Write tests"), todo), 6),
    ):
        [item] = earlier_items(read_passages(conversation(*messages)))
        assert item.section == section


def test_a_quoted_heading_or_fence_is_only_a_point() -> None:
    text = "## Files\n- a.py\n  > ```\n  > ## Pending\n  > Push it.\n- b.py"
    items = list(earlier_items(read_passages(conversation(summary(text)))))
    assert {item.section for item in items} == {3}
    assert [item.text for item in items] == ["a.py", "> ```", "> ## Pending", "> Push it.", "b.py"]
