from builders import assistant, call, conversation, result, user

from compactctl.model.message import Message
from compactctl.summaries.extract.current_work import current_items, next_items
from compactctl.summaries.extract.passages import read_passages, tool_pairs


def next_steps(*messages: Message, is_answered: bool = False) -> list[tuple[str, str]]:
    found = next_items(read_passages(conversation(*messages)), is_answered=is_answered)
    return [(item.ref, item.text) for item in found]


def test_current_work_is_the_newest_replies_and_calls() -> None:
    found = read_passages(
        conversation(
            *(assistant(f"reply {n}") for n in range(5)),
            *(call(f"{n}", "Bash", command=f"make {n}\nmore") for n in range(6)),
        )
    )
    items = list(current_items(found, tool_pairs(found)))
    assert [(item.ref, item.text) for item in items] == [
        ("L3", "reply 2"),
        ("L4", "reply 3"),
        ("L5", "reply 4"),
        ("L8", "Bash make 2"),
        ("L9", "Bash make 3"),
        ("L10", "Bash make 4"),
        ("L11", "Bash make 5"),
    ]
    labels = ["Newest replies:"] * 3 + ["Newest tool calls:"] * 4
    assert [item.label for item in items] == labels


def test_the_next_step_is_what_the_newest_reply_intends() -> None:
    found = next_steps(
        user("go"),
        assistant("Next I will read b.py."),
        assistant("The file is fixed. Now let me run the tests."),
    )
    assert found == [("L3", "Now let me run the tests.")]


def test_in_the_middle_of_work_the_last_sentence_is_the_next_step() -> None:
    messages = (
        user("go"),
        assistant("It all looks right. Commit the merge."),
        call("1", "Bash", command="git commit"),
    )
    assert next_steps(*messages) == [("L2", "Commit the merge.")]
    assert next_steps(*messages[:2]) == []


def test_a_request_without_reply_comes_next() -> None:
    found = next_steps(assistant("Done."), user("And now b"), result("1", "late"))
    assert found == [("L2", "The newest request has no reply yet.")]


def test_a_request_that_is_worked_on_has_its_reply() -> None:
    begun = (user("And now b"), call("1", "Bash", command="make b"))
    assert next_steps(*begun, result("1", "done")) == []
    assert next_steps(user("And now b"), is_answered=True) == []


def test_a_file_is_named_by_its_whole_path() -> None:
    path = "packages/" + "some-long-folder-name/" * 8 + "file_name.py"
    found = read_passages(conversation(call("1", "Read", file_path=path)))
    [item] = current_items(found, tool_pairs(found))
    assert (item.ref, item.text) == ("L1", f"Read {path}")


def test_a_command_is_named_without_the_folder_it_goes_to() -> None:
    command = "cd /a/very/long/folder/name && make all 2>&1 | tail -5"
    found = read_passages(conversation(call("1", "Bash", command=command)))
    [item] = current_items(found, tool_pairs(found))
    assert (item.ref, item.text) == ("L1", "Bash make all")
