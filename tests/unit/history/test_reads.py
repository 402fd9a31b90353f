import json
from typing import Any

import pytest
from builders import call, conversation, raw_call, result
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history import reads as reads_module
from compactctl.history.read_calls import (
    ExtraReadTools,
    LineRange,
    ReadRequest,
    edited_paths,
    normal_path,
    read_request,
)
from compactctl.history.reads import (
    FileRead,
    covers,
    file_content,
    find_file_edits,
    find_file_reads,
    find_superseded,
    is_cleared,
    is_notice,
    is_stub,
    request_covers,
    stub_for,
    stub_targets,
)
from compactctl.history.tool_names import kind_of
from compactctl.model.message import MediaPart, Message

DELETED = "*** Delete File: a.py"
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
        ("exec_command", {"cmd": f"sed -n 5,{'9' * 5_000}p a.py"}, None),
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
    for text in ("1\ta\n3\tb", "1\ta\nb", "2024: a year\nand more", "12", "9" * 5_000 + "\tb"):
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
    assert [read.part_index.message for read in reads if read.shows_content] == [3, 7]
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
    assert kind_of("mcp__files__read") == kind_of("a.b/re-ad") == kind_of("c:read") == "read"
    # In quadratic time this takes many minutes.
    assert kind_of("read" * 500_000) is None


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("view", {"path": "a.py", "view_range": [3, 3]}, ("a.py", LineRange(3, 3))),
        ("view", {"path": "a.py", "view_range": [3, 2]}, ("a.py", LineRange(3, None))),
        ("view", {"path": "a.py", "view_range": [3]}, ("a.py", None)),
        ("read", {"path": "a.py", "end_line": 9}, ("a.py", LineRange(1, 9))),
        ("read", {"path": "a.py", "start_line": 4}, ("a.py", LineRange(4, None))),
        (
            "read",
            {"path": "a.py", "start_line": 4, "end_line": 6, "limit": 9},
            ("a.py", LineRange(4, 6)),
        ),
        ("read", {"path": "a.py", "offset": 0, "limit": 1}, ("a.py", LineRange(0, 0))),
        ("read", {"path": "a.py", "offset": True, "limit": "5"}, ("a.py", None)),
        ("read", {"file_path": " ", "path": "b.py"}, ("b.py", None)),
        ("read", {"file_path": 7, "path": "b.py"}, ("b.py", None)),
        ("str_replace_editor", {"command": "view"}, None),
        ("Bash", {"command": "head -5 a.py"}, ("a.py", LineRange(1, 5))),
        ("Bash", {"command": "  cat   a.py \n"}, ("a.py", None)),
        ("Bash", {"command": 'cat "my notes.md"'}, ("my notes.md", None)),
        ("Bash", {"command": 'cat "$HOME/a.py"'}, None),
        ("Bash", {"command": ["cat", "my notes.md"]}, None),
        ("Bash", {"command": ["sh", "-c", "cat a.py"]}, ("a.py", None)),
        ("Bash", {"command": ["sh", "-x", "cat a.py"]}, None),
        ("Bash", {"command": ["sh", "-c", "cat a.py", "me"]}, None),
        ("Bash", {"command": 7}, None),
        ("Bash", {"command": "", "cmd": "cat a.py"}, None),
        ("Bash", {"cmd": "cat a.py", "cwd": "/srv"}, ("/srv/a.py", None)),
        ("Bash", {}, None),
    ],
)
def test_the_forms_of_a_read(
    tool: str, arguments: dict[str, object], expected: tuple[str, LineRange | None] | None
) -> None:
    assert request(tool, **arguments) == expected


def test_more_tools_can_read_by_more_names_of_a_path() -> None:
    extra = ExtraReadTools(tools=("Load_Doc",), path_keys=("doc",))
    both = call("c", "mcp__x__loaddoc", path="b", doc="a").calls[0]
    assert read_request(both, extra_tools=extra) == ReadRequest("a", None)
    assert read_request(both) is None
    assert not extra.include("load")


@pytest.mark.parametrize(
    ("inner", "outer", "within"),
    [
        ((2, 4), None, True),
        ((2, None), None, True),
        ((2, 4), (2, 4), True),
        ((2, 4), (1, 9), True),
        ((2, 4), (3, 9), False),
        ((2, 4), (1, 3), False),
        ((2, None), (1, 9), False),
        ((2, None), (2, None), True),
        ((2, None), (3, None), False),
        ((2, 4), (2, None), True),
        ((2, 4), (3, None), False),
    ],
)
def test_lines_are_within_others(
    inner: tuple[int, int | None],
    outer: tuple[int, int | None] | None,
    within: bool,  # noqa: FBT001
) -> None:
    around = LineRange(*outer) if outer else None
    assert LineRange(*inner).is_within(around) is within
    assert request_covers(around, LineRange(*inner)) is within


def test_only_the_whole_file_covers_a_read_of_the_whole_file() -> None:
    assert request_covers(None, None)
    assert not request_covers(LineRange(1, None), None)


@pytest.mark.parametrize(
    ("tool", "arguments", "paths"),
    [
        ("Edit", {"path": "a.py", "file_path": " "}, ("a.py",)),
        ("Edit", {"old": "x"}, ()),
        ("Bash", {"path": "a.py", "command": "make"}, ()),
        (
            "Bash",
            {"input": ["apply_patch", "*** Delete File: a.py \n*** Delete File: a.py"]},
            ("a.py",),
        ),
        ("Bash", {"command": f"cat > a.md <<E\n{DELETED}\nE"}, ()),
        ("Glob", {"path": "a.py"}, ()),
        ("MultiEdit", {"file_path": f"{CWD}/a.py", "edits": []}, ("a.py",)),
    ],
)
def test_what_a_call_changes(
    tool: str, arguments: dict[str, object], paths: tuple[str, ...]
) -> None:
    assert edited_paths(call("c", tool, **arguments).calls[0], cwd=CWD) == paths


@pytest.mark.parametrize(
    ("path", "cwd", "normal"),
    [
        (" a.py ", None, "a.py"),
        ("/a.py", "/", "/a.py"),
        ("/srv/a.py", "/srv/", "a.py"),
        ("//srv///a.py", "/srv", "a.py"),
        ("/srv/a.py", None, "/srv/a.py"),
        ("/srv/a.py", "", "/srv/a.py"),
    ],
)
def test_a_path_is_relative_to_a_folder_around_it(path: str, cwd: str | None, normal: str) -> None:
    assert normal_path(path, cwd) == normal


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("1\ta\n3\tb", "1\ta\n3\tb"),
        ("1\ta\n2|b", "1\ta\n2|b"),
        ("7|a\n8|b\n9|", "a\nb"),
        ("00009| a\n00010| b", " a\n b"),
        ("a\n2\tb", "a\n2\tb"),
        ("<file>\n1: a\n\n(File has more lines. Use offset)\n</file>", "a"),
        ("(End of file - total 2 lines)", "(End of file - total 2 lines)"),
        ("a\n[12 more lines in file. Use offset=3]", "a"),
        ("<system-reminder>one</system-reminder>", ""),
        (
            "a\n<system-reminder>b</system-reminder>\n<system-reminder>c</system-reminder> ",
            "a",
        ),
        ("a</system-reminder>", "a</system-reminder>"),
        ("<system-reminder>a</system-reminder>\nb", "<system-reminder>a</system-reminder>\nb"),
        ('{"output": 7}', '{"output": 7}'),
        ('{"output":7}', '{"output":7}'),
        ('{"output":"1\\ta\\n"}', "a"),
        ('{"output":', '{"output":'),
        ("a\n<path>a</path>\n<type>file</type>\n<content>\n", None),
    ],
)
def test_numbers_frames_and_reminders_are_removed(text: str, content: str | None) -> None:
    assert file_content(text, numbered=True) == (text.rstrip("\n") if content is None else content)


def test_a_footer_is_looked_for_at_the_end_of_a_long_text() -> None:
    text = "word\n" * 200
    footer = "\n[Showing lines 1-2 of 9]"
    assert file_content(text + footer, numbered=True) == text.rstrip("\n")


@pytest.mark.parametrize(
    ("body", "shows_nothing"),
    [
        ("", True),
        (" \n ", True),
        ("File not found", True),
        ("File not found\nreally", False),
        ("x" * 390 + " not found", False),
        ("x" * 389 + " not found", True),
        ("  " + "x" * 389 + " not found  ", True),
        ("a\n<content/>\nb", True),
        ("def f(): pass", False),
    ],
)
def test_a_short_line_of_the_client_shows_nothing(body: str, shows_nothing: bool) -> None:  # noqa: FBT001
    assert is_notice(body) is shows_nothing


@pytest.mark.parametrize(
    ("text", "path", "stub"),
    [
        (stub_for("a.py"), None, True),
        (f"{stub_for('a.py')} ", None, False),
        ("[See a.py]", "a.py", True),
        ("[See a.py]", "b.py", False),
        ("[See a.py]", None, False),
        ("[See\na.py]", "a.py", False),
        ("See a.py]", "a.py", False),
        ("[See a.py", "a.py", False),
    ],
)
def test_a_stub_is_a_line_in_brackets_that_names_the_file(
    text: str,
    path: str | None,
    stub: bool,  # noqa: FBT001
) -> None:
    assert is_stub(text, path) is stub


def test_a_stub_can_be_worded_otherwise() -> None:
    assert stub_for("a.py", "[{path} again: {path}]") == "[a.py again: a.py]"


@pytest.mark.parametrize(
    ("text", "flags", "cleared"),
    [
        ("x", {}, False),
        ("x", {"cleared": True}, True),
        (" [Old tool result content cleared]\n", {}, True),
        ("[Tool result cleared]", {}, True),
        ("[Tool result truncated: 9 lines]", {}, True),
        ("[Tool result truncatedly: 9 lines]", {}, False),
        ("[Compacted history content evicted to a file]", {}, True),
        ("a [Tool result cleared]", {}, False),
    ],
)
def test_a_placeholder_holds_nothing_of_a_file(
    text: str,
    flags: dict[str, Any],
    cleared: bool,  # noqa: FBT001
) -> None:
    (part,) = result("c", text, **flags).results
    assert is_cleared(part) is cleared
    reads = find_file_reads(
        conversation(call("c", "Read", path="z.py"), result("c", text, **flags))
    )
    assert (len(reads) == 0) is cleared


def test_errors_pictures_and_unknown_calls_are_no_reads() -> None:
    picture = (MediaPart(media_type="image/png", n_bytes=1),)
    messages = conversation(
        call("a", "Read", path="a"),
        result("a", "x", is_error=True),
        call("b", "Read", path="b"),
        result("b", "x", media=picture),
        result("c", "x", tool="Read"),
        call("d", "Grep", path="d"),
        result("d", "x"),
        call("e", "Bash", command="cat e"),
        result("e", "1\tx"),
    )
    (read,) = find_file_reads(messages)
    assert (read.part_index, read.message, read.tool, read.path, read.body) == (
        (8, 0), "m8", "Bash", "e", "1\tx"
    )  # fmt: skip


def test_stubs_of_other_files_and_earlier_reads_are_left_alone() -> None:
    messages = conversation(
        call("r", "Read", file_path="a.py"),
        result("r", "1\tx"),
        call("s", "Read", file_path="a.py", offset=10, limit=5),
        result("s", stub_for("a.py")),
        call("t", "Read", file_path="a.py"),
        result("t", "[Tool result cleared]"),
        call("u", "Read", file_path="b.py"),
        result("u", stub_for("b.py")),
    )
    assert stub_targets(messages) == frozenset()
    later = (call("v", "Read", file_path="a.py", offset=12, limit=1), result("v", "12\ty"))
    again = (call("w", "Read", file_path="a.py", offset=9, limit=9), result("w", "9\ty"))
    last = (call("z", "Read", file_path="a.py", offset=1, limit=1), result("z", "1\ty"))
    whole = conversation(*messages, *later, *again, *last)
    assert stub_targets(whole) == {(11, 0)}


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("server.tools/Read-File", "read"),
        ("mcp__x__Multi_Edit", "edit"),
        ("a:write", "write"),
        ("grep_search", "search"),
        ("list_dir", "find"),
        ("run_in_terminal", "shell"),
        ("", None),
    ],
)
def test_the_kind_of_a_tool_does_not_depend_on_its_server_or_spelling(
    tool: str, kind: str | None
) -> None:
    assert kind_of(tool) == kind
