"""What clients are set up with, what their hooks answer, and their status line."""

import json
from pathlib import Path
from typing import Any

import pytest
from unit.views.results.screens import shown

from compactctl.clients.integrations import integration_of
from compactctl.commands.integrations.hook import HookOptions, HookResult
from compactctl.commands.integrations.integrate import FileChange, InstallRequest, IntegrateResult
from compactctl.commands.integrations.statusline import StatusLineResult
from compactctl.records import replace
from compactctl.views.results.clients import (
    hook_document,
    hook_terminal,
    integrate_document,
    integrate_messages,
    integrate_terminal,
    statusline_terminal,
)

CHANGES = (
    FileChange(path=Path("new.md"), before=None, after=b"a\n"),
    FileChange(path=Path("s.json"), before=b"a\nb\n", after=b"a\nc\x1b\xff\n"),
    FileChange(path=Path("old.js"), before=b"x\n", after=None),
)


def result_of(*changes: FileChange, action: Any = "print") -> IntegrateResult:
    request = InstallRequest(client="codex", program="compactctl")
    return IntegrateResult(
        request=request, action=action, changes=changes, notes=("type /hooks in it",)
    )


def test_changes_of_files_are_shown_as_diff_shows_them() -> None:
    text = "\n".join(shown(integrate_terminal(result_of(*CHANGES))))
    assert text.split("\n") == [
        "new: new.md",
        "  @@ -0,0 +1 @@",
        "  +a",
        "changed: s.json",
        "  @@ -1,2 +1,2 @@",
        "   a",
        "  -b",
        "  +c\\x1b\ufffd",
        "removed: old.js",
        "  @@ -1 +0,0 @@",
        "  -x",
    ]
    document = integrate_document(result_of(*CHANGES))
    assert [change["before"] for change in document["changes"]] == [None, "a\nb\n", "x\n"]
    assert (document["client"], document["action"]) == ("codex", "print")


@pytest.mark.parametrize(
    ("action", "line"),
    [
        ("print", "there is nothing to add: it is set up"),
        ("install", "there is nothing to add: it is set up"),
        ("uninstall", "nothing of compactctl's to remove"),
    ],
)
def test_without_changes_it_is_said_so(action: str, line: str) -> None:
    result = result_of(action=action)
    assert shown(integrate_terminal(result)) == [line]
    assert list(integrate_messages(result)) == []


def test_what_remains_to_be_done_is_said() -> None:
    assert list(integrate_messages(result_of(*CHANGES))) == [
        "nothing was written; to install: compactctl client integrate codex --install",
        "type /hooks in it",
    ]
    installed = result_of(*CHANGES, action="install")
    assert list(integrate_messages(installed)) == ["type /hooks in it"]


def answer(client: str, **said: str) -> str:
    options = HookOptions(integration=integration_of(client), program="compactctl")
    result = HookResult(options=options, event="PreCompact", **said)
    assert hook_document(result)["client"] == client
    pieces = [piece for item in hook_terminal(result) for piece in item.pieces]
    return b"".join(pieces).decode()


CONTEXT = {"hookEventName": "SessionStart", "additionalContext": "see\nthere"}


@pytest.mark.parametrize(
    ("client", "said", "expected"),
    [
        ("claude-code", {"refusal": "no"}, {"decision": "block", "reason": "no"}),
        ("codex", {"refusal": "no"}, {"continue": False, "stopReason": "no"}),
        ("codex", {"message": "a\nb"}, {"systemMessage": "a b"}),
        ("claude-code", {"context": "see\nthere"}, {"hookSpecificOutput": CONTEXT}),
        (
            "claude-code",
            {"message": "a", "context": "see\nthere"},
            {"systemMessage": "a", "hookSpecificOutput": CONTEXT},
        ),
    ],
)
def test_a_hook_answers_in_the_words_of_its_client(
    client: str, said: dict[str, str], expected: dict[str, Any]
) -> None:
    text = answer(client, **said)
    assert json.loads(text) == expected
    assert text.endswith("}\n")


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode", "pi"])
def test_a_hook_without_anything_to_say_says_nothing(client: str) -> None:
    assert answer(client) == ""


def test_code_of_ours_gets_text() -> None:
    assert answer("pi", message="a\nb", context="c") == "a b\n"
    assert answer("pi", context="c\nd") == "c d\n"
    assert len(answer("pi", message="x" * 3_000)) == 2_001


FIGURES = StatusLineResult(context=None, window=None, compacts_at=None, compactions=None)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "context: unknown"),
        ({"context": 999}, "context 999"),
        ({"context": 1_000}, "context 1k"),
        ({"context": 999_499}, "context 999k"),
        ({"context": 999_500}, "context 1M"),
        ({"context": 1_234_000}, "context 1.23M"),
        ({"context": 68_400, "window": 200_000}, "context 68k of 200k (34%)"),
        (
            {"context": 1, "window": 200_000, "compacts_at": 167_000, "compactions": 1},
            "context 1 of 200k (0%) · compacts at 167k · compacted 1 time",
        ),
        (
            {"context": 0, "window": 10, "compactions": 2},
            "context 0 of 10 (0%) · compacted 2 times",
        ),
        ({"context": 5, "compactions": 0, "compacts_at": 0}, "context 5"),
    ],
)
def test_a_session_at_a_glance(changes: dict[str, Any], line: str) -> None:
    assert list(statusline_terminal(replace(FIGURES, **changes))) == [line]
