import pytest
from builders import attached, call, conversation, result

from compactctl.model.message import CallOutcome, Message
from compactctl.summaries.extract.files import MAX_REQUIRED_FILES, file_items
from compactctl.summaries.extract.passages import read_passages


def told(*messages: Message, section: int = 3, cwd: str | None = None) -> list[tuple[str, str]]:
    items = file_items(read_passages(conversation(*messages), cwd), cwd)
    return [(item.ref, item.text) for item in items if item.section == section]


def test_one_line_tells_all_that_happened_to_a_file() -> None:
    found = told(
        call("1", "Read", file_path="/w/a.py"),
        result("1", "text"),
        call("2", "Edit", file_path="/w/a.py", new_string="x"),
        result("2", "String not found", is_error=True),
        call("3", "Edit", file_path="a.py", new_string="def strict(): ...\nclass Reader: ..."),
        result("3", "done"),
        call("4", "read_file", path="./a.py"),
        result("4", "text"),
        cwd="/w",
    )
    assert found == [("L7", "a.py - read x2, failed edit, edited; definitions: strict, Reader")]


def test_patches_shell_reads_and_attachments_count() -> None:
    patch = "*** Begin Patch\n*** Update File: b.go\n+func Run() {}\n*** End Patch"
    found = told(
        call("1", "shell", command=["bash", "-lc", "cat c.md"]),
        result("1", "text"),
        call("2", "apply_patch", input=patch),
        result("2", "ok"),
        call("3", "Write", file_path="d.ts", content="export function go() {}"),
        result("3", "The file d.ts has been written."),
        attached("e.txt", "text"),
    )
    assert found == [
        ("L1", "c.md - read"),
        ("L3", "b.go - edited; definitions: Run"),
        ("L5", "d.ts - written; definitions: go"),
        ("L7", "e.txt - attached"),
    ]


def test_a_file_is_listed_without_a_use_if_nobody_knows_how_the_call_ended() -> None:
    found = told(
        call("1", "Write", file_path="a.ts", content="export function go() {}"),
        call("2", "Read", file_path="b.py"),
        call("3", "Edit", file_path="c.py", new_string="x"),
        result("3", "done"),
        call("4", "Edit", file_path="c.py", new_string="def late(): ..."),
    )
    assert found == [("L1", "a.ts"), ("L2", "b.py"), ("L5", "c.py - edited")]


@pytest.mark.parametrize(
    ("outcome", "use"),
    [
        ("failed", "failed edit"),
        ("denied", "denied edit"),
        ("timed out", "interrupted edit"),
        ("interrupted", "interrupted edit"),
    ],
)
def test_an_edit_that_did_not_end_well_is_told_as_what_it_was(
    outcome: CallOutcome, use: str
) -> None:
    edit = call("1", "Edit", file_path="a.py", new_string="def run(): ...")
    assert told(edit, result("1", "no", outcome=outcome)) == [("L1", f"a.py - {use}")]


def test_of_a_patch_only_the_files_are_changed_that_its_result_names() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/a.py\n+x\n*** Update File: src/b.py\n+x\n"
        "*** Update File: old.py\n*** Move to: new.py\n+x\n*** End Patch"
    )
    found = told(call("1", "apply_patch", input=patch), result("1", "Updated:\nM a.py\nM new.py"))
    assert found == [
        ("L1", "src/a.py - edited"),
        ("L1", "src/b.py"),
        ("L1", "old.py - moved"),
        ("L1", "new.py - edited"),
    ]


def test_a_file_that_is_new_is_written_and_one_that_is_gone_deleted() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: old.py\n-x\n"
        "*** Delete File: gone.py\n*** End Patch"
    )
    found = told(
        call("1", "apply_patch", input=patch),
        result("1", "ok"),
        call("2", "str_replace_editor", command="create", path="made.py", file_text="x"),
        result("2", "ok"),
        call("3", "apply_patch", input=patch),
        result("3", "no such file", is_error=True),
    )
    assert found == [
        ("L5", "new.py - written, failed edit"),
        ("L5", "old.py - edited, failed edit"),
        ("L5", "gone.py - deleted, failed edit"),
        ("L3", "made.py - written"),
    ]


def test_a_read_that_failed_shows_no_file() -> None:
    assert told(call("1", "Read", file_path="no.py"), result("1", "?", is_error=True)) == []


def test_changed_files_are_required_before_files_that_were_only_read() -> None:
    reads = [
        m
        for n in range(20)
        for m in (call(f"{n}", "Read", file_path=f"{n}.py"), result(f"{n}", "text"))
    ]
    edit = call("e", "Write", file_path="mine.py", content="x"), result("e", "Wrote mine.py.")
    found = told(*edit, *reads, section=9)
    assert found[:2] == [("", "mine.py"), ("", "19.py")]
    assert len(found) == MAX_REQUIRED_FILES
