import json

import pytest
from builders import call, conversation, raw_call, result
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history import reads as reads_module
from compactctl.history.read_calls import LineRange, edited_paths, normal_path, read_request
from compactctl.history.reads import (
    FileRead,
    covers,
    file_content,
    find_file_edits,
    find_file_reads,
    find_superseded,
    stub_for,
    stub_targets,
)
from compactctl.history.tool_names import kind_of
from compactctl.model.message import Message

CWD = "/home/ada/engine"


def request(tool: str, **arguments: object) -> tuple[str, LineRange | None] | None:
    found = read_request(call("c", tool, **arguments).calls[0], cwd=CWD)
    return (found.path, found.lines) if found else None


def reads_of(*texts: str) -> tuple[FileRead, ...]:
    pairs = (
        (call(f"c{n}", "Read", file_path="a.py"), result(f"c{n}", text))
        for n, text in enumerate(texts)
    )
    return find_file_reads(conversation(*(m for pair in pairs for m in pair)))


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Read", {"file_path": f"{CWD}/a.py"}, ("a.py", None)),
        ("Read", {"file_path": "a.py", "offset": 10, "limit": 5}, ("a.py", LineRange(10, 14))),
        ("Read", {"file_path": "a.py", "limit": 5}, ("a.py", LineRange(1, 5))),
        ("read", {"filePath": "a.py", "offset": 10}, ("a.py", LineRange(10, None))),
        ("read_file", {"path": "a.py", "start_line": 2, "end_line": 9}, ("a.py", LineRange(2, 9))),
        ("readFile", {"path": "a.py", "startLine": 2, "endLine": 9}, ("a.py", LineRange(2, 9))),
        ("view", {"path": "a.py", "view_range": [3, 4]}, ("a.py", LineRange(3, 4))),
        ("view", {"path": "a.py", "view_range": [3, -1]}, ("a.py", LineRange(3, None))),
        ("mcp__files__read_file", {"path": "a.py"}, ("a.py", None)),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, ("a.py", None)),
        ("str_replace_editor", {"command": "create", "path": "a.py"}, None),
        ("Read", {"notebook_path": "n.ipynb"}, ("n.ipynb", None)),
        ("Read", {}, None),
        ("Grep", {"path": "a.py"}, None),
        ("Bash", {"command": "cat a.py"}, ("a.py", None)),
        ("Bash", {"command": "cat 'my notes.md'"}, ("my notes.md", None)),
        ("exec_command", {"cmd": "sed -n '5,9p' a.py"}, ("a.py", LineRange(5, 9))),
        ("exec_command", {"cmd": "sed -n 5,\\$p a.py"}, None),
        ("exec_command", {"cmd": "sed -n '5,$p' a.py"}, ("a.py", LineRange(5, None))),
        ("shell", {"command": ["bash", "-lc", "head -n 20 a.py"]}, ("a.py", LineRange(1, 20))),
        ("shell", {"command": ["cat", "a.py"], "workdir": f"{CWD}/src"}, ("src/a.py", None)),
        ("Bash", {"command": "cat a.py b.py"}, None),
        ("Bash", {"command": "cat a.py | head"}, None),
        ("Bash", {"command": "cat *.py"}, None),
        ("Bash", {"command": "cat > a.py"}, None),
        ("Bash", {"command": "cat -n a.py"}, None),
        ("Bash", {"command": "echo cat a.py"}, None),
    ],
)
def test_what_a_call_reads(
    tool: str, arguments: dict[str, object], expected: tuple[str, LineRange | None] | None
) -> None:
    assert request(tool, **arguments) == expected


@pytest.mark.parametrize("arguments", ["", "{", "null", "[]", '"a.py"', "[" * 100_000])
def test_broken_arguments_read_nothing(arguments: str) -> None:
    assert read_request(raw_call("c", "Read", arguments).calls[0]) is None


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("./a.py", "a.py"),
        ("src//a.py", "src/a.py"),
        ("src/./b/../a.py", "src/a.py"),
        (f"{CWD}/src/a.py", "src/a.py"),
        ("/home/ada/engineer/a.py", "/home/ada/engineer/a.py"),
        ("D:\\engine\\a.py", "D:/engine/a.py"),
        ("A.py", "A.py"),
    ],
)
def test_one_file_has_one_path(path: str, normal: str) -> None:
    assert normal_path(path, CWD) == normal


def test_a_folder_on_another_system_is_recognised_too() -> None:
    assert normal_path("D:\\engine\\src\\a.py", "D:\\engine") == "src/a.py"


def test_writes_edits_and_patches_name_their_files() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n"
    assert edited_paths(call("c", "Edit", file_path="./a.py").calls[0]) == ("a.py",)
    assert edited_paths(call("c", "Write", file_path="a.py").calls[0]) == ("a.py",)
    assert edited_paths(call("c", "apply_patch", input=patch).calls[0]) == ("a.py", "b.py")
    assert edited_paths(raw_call("c", "apply_patch", patch).calls[0]) == ("a.py", "b.py")
    in_shell = call("c", "shell", command=["apply_patch", patch]).calls[0]
    assert edited_paths(in_shell) == ("a.py", "b.py")
    assert edited_paths(call("c", "Read", file_path="a.py").calls[0]) == ()
    viewing = call("c", "str_replace_editor", command="view", path="a.py").calls[0]
    assert edited_paths(viewing) == ()


def test_edits_have_their_place() -> None:
    messages = conversation(
        call("a", "Read", path="a"), result("a", "x"), call("b", "Edit", path="a")
    )
    assert [(edit.part_index, edit.path) for edit in find_file_edits(messages)] == [((2, 0), "a")]


@pytest.mark.parametrize(
    "text",
    [
        "     1→def f():\n     2→    pass\n     3→",
        "1\tdef f():\n2\t    pass",
        "41\tdef f():\n42\t    pass\n\n<system-reminder>\nBe careful.\n</system-reminder>\n",
        (
            "<path>/x/a.py</path>\n<type>file</type>\n<content>1: def f():\n2:     pass\n\n"
            "(End of file - total 2 lines)\n</content>"
        ),
        "1. def f():\n2.     pass",
        "Here's the result of running `cat -n` on a.py:\n     1\tdef f():\n     2\t    pass\n",
        "def f():\n    pass\n\n[Showing lines 1-2 of 9 (50.0KB limit). Use offset=3 to continue]",
        "def f():\n    pass\n",
    ],
)
def test_only_the_file_is_left_of_a_result(text: str) -> None:
    assert file_content(text, numbered=True) == "def f():\n    pass"


def test_shell_output_keeps_numbers_but_loses_the_clients_frame() -> None:
    framed = (
        "Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 0\n"
        "Original token count: 9\nOutput:\n1. first\n2. second\n"
    )
    assert file_content(framed, numbered=False) == "1. first\n2. second"
    stored = json.dumps({"output": "1. first\n", "metadata": {"exit_code": 0}})
    assert file_content(stored, numbered=False) == "1. first"


def test_numbers_that_do_not_count_up_are_content() -> None:
    for text in ("1\ta\n3\tb", "1\ta\nb", "2024: a year\nand more", "12"):
        assert file_content(text, numbered=True) == text


def test_errors_placeholders_stubs_and_cleared_results_are_no_reads() -> None:
    texts = [
        result("a", "No such file", is_error=True),
        result("a", "[Old tool result content cleared]", cleared=True),
        result("a", "[Tool result cleared]"),
        result("a", stub_for("a.py")),
    ]
    for answer in texts:
        messages = conversation(call("a", "Read", file_path="a.py"), answer)
        assert find_file_reads(messages) == ()


def test_a_read_covers_its_own_lines_and_blocks_of_them() -> None:
    whole, block, gap, part, other = reads_of(
        "1\ta\n2\tb\n3\tc", "2\tb\n3\tc", "1\ta\n2\tc", "1\ta\n2\tb\n3\tcc", "9\tz"
    )
    assert covers(whole, block)
    assert covers(whole, whole)
    assert not covers(block, whole)
    assert not covers(whole, gap)
    assert not covers(part, whole)
    assert not covers(whole, other)


def test_the_newest_read_that_covers_wins() -> None:
    reads = reads_of("1\ta\n2\tb", "2\tb", "1\ta\n2\tb\n3\tc", "1\ta\n2\tb\n3\tc", "1\tx")
    newest = {
        place.message: read.part_index.message for place, read in find_superseded(reads).items()
    }
    assert newest == {1: 7, 3: 7, 5: 7}


# What clients answer to a read that shows nothing of the file.
REMINDER = "<system-reminder>Warning: the file exists but {}</system-reminder>"
NOTICES = {
    "nothing": "",
    "blank lines": "     1\t\n     2\t  ",
    "Claude Code, empty": REMINDER.format("the contents are empty."),
    "Claude Code, behind the end": REMINDER.format(
        "is shorter than the provided offset (4000). The file has 75 lines."
    ),
    "Claude Code, unchanged": (
        "File unchanged since last read. The content from the earlier Read tool_result in this "
        "conversation is still current — refer to that instead of re-reading."
    ),
    "Claude Code, unchanged, newer": (
        "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result "
        "instead."
    ),
    "Mistral Vibe": (
        "<vibe_warning>Warning: the file exists but the contents are empty.</vibe_warning>"
    ),
    "VS Code, empty": "(The file `/app/a.py` exists, but is empty)",
    "VS Code, blank": "(The file `/app/a.py` exists, but contains only whitespace)",
    "Roo Code": (
        "<files>\n<file><path>a.py</path>\n<content/><notice>File is empty</notice>\n</file>\n"
        "</files>"
    ),
    "OpenCode, empty": (
        "<path>/x/a.py</path>\n<type>file</type>\n<content>\n\n(End of file - total 0 lines)\n"
        "</content>"
    ),
    "OpenCode, behind the end": "Error: Offset 40 is out of range for this file (12 lines)",
    "OpenHands": "Here's the result of running `cat -n` on a.py:\n     1\t\n",
    "Codex, shell": (
        "Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 0\n"
        "Original token count: 0\nOutput:\n"
    ),
    "Codex, behind the end": "offset exceeds file length",
    "pi": "Offset 40 is beyond end of file (12 lines total)",
    "shell": "cat: a.py: No such file or directory",
    "chat": "Error: file not found: a.py",
}


@pytest.mark.parametrize("notice", NOTICES.values(), ids=NOTICES)
def test_a_read_that_shows_nothing_is_covered_by_none_and_covers_none(notice: str) -> None:
    later = "1\tdef f():\n2\t\n3\t    pass\n4\t"
    reads = reads_of(notice, later, notice, later, notice)
    assert [read.shows_content for read in reads] == [False, True, False, True, False]
    assert {
        place.message: read.part_index.message for place, read in find_superseded(reads).items()
    } == {3: 7}


@pytest.mark.parametrize(
    "text",
    [
        "}",
        "def is_empty(file):\n    return not file",
        "# a file is empty\nx = 1",
        "x" * 500 + " not found",
    ],
)
def test_content_is_no_notice(text: str) -> None:
    (read,) = reads_of(text)
    assert read.shows_content


@pytest.mark.parametrize("notice", NOTICES.values(), ids=NOTICES)
def test_a_stub_never_refers_to_a_read_that_shows_nothing(notice: str) -> None:
    messages = stubbed(
        call("a", "Read", file_path="a.py"),
        result("a", "1\tx"),
        call("b", "Read", file_path="a.py"),
        result("b", notice),
    )
    assert stub_targets(messages) == {(3, 0)}


@given(texts=st.lists(st.lists(st.sampled_from("abc"), max_size=4).map("\n".join), max_size=8))
def test_of_all_later_reads_the_newest_that_covers_wins(texts: list[str]) -> None:
    reads = reads_of(*texts)
    expected = {}
    for at, read in enumerate(reads):
        covering = [later for later in reads[at + 1 :] if covers(later, read)]
        if covering:
            expected[read.part_index] = covering[-1]
    assert find_superseded(reads) == expected


def test_reads_that_differ_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counted(newer: FileRead, older: FileRead) -> bool:
        nonlocal compared
        compared += 1
        return covers(newer, older)

    monkeypatch.setattr(reads_module, "covers", counted)
    reads = reads_of(*(f"same\nline {at}\nline {at + 1}" for at in range(300)))
    assert not find_superseded(reads)
    assert compared <= len(reads)


def stubbed(*later: Message) -> tuple[Message, ...]:
    first = (call("s", "Read", file_path="a.py", offset=10, limit=5), result("s", stub_for("a.py")))
    return conversation(*first, *later)


def test_a_stub_refers_to_the_newest_read_of_its_lines() -> None:
    messages = stubbed(
        call("a", "Read", file_path="a.py"),
        result("a", "1\tx"),
        call("b", "Read", file_path="a.py", offset=1, limit=3),
        result("b", "1\tx"),
        call("c", "Read", file_path="b.py"),
        result("c", "1\tx"),
    )
    assert stub_targets(messages) == {(3, 0)}


def test_a_stub_whose_lines_nobody_reads_refers_to_the_newest_read_of_the_file() -> None:
    later = (call("b", "Read", file_path="a.py", offset=1, limit=3), result("b", "1\tx"))
    assert stub_targets(stubbed(*later)) == {(3, 0)}
    assert stub_targets(stubbed()) == frozenset()


def test_tools_are_known_across_clients() -> None:
    known = ["FileRead", "Bash", "Grep", "Glob", "FileEdit", "FileWrite", "execute_command"]
    assert [kind_of(tool) for tool in known] == [
        "read", "shell", "search", "find", "edit", "write", "shell",
    ]  # fmt: skip
    assert kind_of("bash") == kind_of("functions.BASH") == "shell"
    assert kind_of("WebSearch") is None
