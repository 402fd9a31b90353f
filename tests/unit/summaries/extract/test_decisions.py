import pytest
from builders import assistant, call, conversation, result, thinking

from compactctl.model.message import Message
from compactctl.summaries.extract.decisions import finding_items, is_finding
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import read_passages


def findings(*messages: Message) -> list[tuple[str, str]]:
    found = finding_items(read_passages(conversation(*messages)), Lexicon())
    return [(item.ref, item.text) for item in found]


def test_findings_come_from_replies_each_once() -> None:
    found = findings(
        thinking("The root cause is a missing lock, I think."),
        assistant("Hello there, friend.\n- **Fixed** by adding a lock in store.py."),
        assistant("The root cause is a missing lock. Fixed by adding a lock in `store.py`."),
        assistant("The root cause is a missing lock."),
    )
    assert found == [
        ("L2", "**Fixed** by adding a lock in store.py."),
        ("L3", "The root cause is a missing lock."),
        ("L3", "Fixed by adding a lock in `store.py`."),
    ]


def test_a_thought_is_a_decision_only_where_the_agent_then_did_it() -> None:
    done = thinking("I will use StrictReader rather than fast_reader in parse/reader.py.")
    dropped = thinking("I'll go with LazyCache for the store. Or should that be simpler?")
    edit = call(
        "e",
        "Edit",
        file_path="parse/reader.py",
        old_string="fast_reader(text)",
        new_string="StrictReader(text)",
    )
    other = call("o", "Write", file_path="store.py", content="cache = {}")
    assert findings(done, edit, result("e", "done"), dropped, other, result("o", "done")) == [
        ("L1", "I will use StrictReader rather than fast_reader in parse/reader.py.")
    ]
    assert findings(done, edit, result("e", "no such text", is_error=True)) == []
    assert findings(done, edit) == []
    once = findings(done, edit, result("e", "done"))
    assert findings(done, edit, result("e", "done"), done) == once


@pytest.mark.parametrize(
    "text",
    [
        "I'll give it a bit more time, because builds are slow.",
        "I'm letting it finish rather than interrupting the build.",
        "Let me check the reader because that looks odd to me.",
        "The issue is real.",
        "This is worse for us because of the following:",
        "Should I use a lock instead of a queue in store.py?",
    ],
)
def test_filler_is_no_finding(text: str) -> None:
    assert not is_finding(text)


@pytest.mark.parametrize(
    "text", ["Fixed `reset_all`.", "The issue is that both of them write at the same time."]
)
def test_what_says_something_is_a_finding(text: str) -> None:
    assert is_finding(text)
