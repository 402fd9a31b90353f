"""How a call ended, and the exit code of its command, where its result is read."""

from typing import Any

import pytest
from builders import call_part, result_part

from compactctl.clients.agent_code.format import AGENT_CODE
from compactctl.clients.claude_code.wrapping import CLAUDE_CODE
from compactctl.clients.cline.wrapping import CLINE
from compactctl.clients.codex.wrapping import CODEX
from compactctl.clients.copilot_cli.wrapping import COPILOT_CLI
from compactctl.clients.gemini_cli.wrapping import GEMINI_CLI
from compactctl.clients.opencode.wrapping import OPENCODE
from compactctl.clients.pi.wrapping import PI
from compactctl.clients.qwen_code.wrapping import QWEN_CODE
from compactctl.clients.records.outcomes import judge, stated_outcome, with_outcomes
from compactctl.clients.records.wrapping import Wrapping
from compactctl.clients.vscode_chat.wrapping import VSCODE_CHAT
from compactctl.clients.wrappings import UNKNOWN_CLIENT
from compactctl.model.message import CallOutcome, ToolCallPart, ToolResultPart

FAR = "x" * 400


def judged(
    text: str,
    call: ToolCallPart | None = None,
    client: Wrapping = UNKNOWN_CLIENT,
    **flags: Any,
) -> ToolResultPart:
    return judge(result_part("c", text, **flags), call, client.results)


def ran(
    text: str, command: str = "make it", client: Wrapping = UNKNOWN_CLIENT, **flags: Any
) -> ToolResultPart:
    return judged(text, call_part("c", "Bash", command=command), client, **flags)


@pytest.mark.parametrize(
    ("output", "outcome", "code"),
    [
        ("", "ok", None),
        ("ok", "ok", None),
        ("Exit code 2\nboom", "failed", 2),
        ("Exit code 0\nfine", "ok", 0),
        # An exit code of zero says more than the last line.
        ("Exit code 0\n3 failed", "ok", 0),
        ("boom\nProcess exited with code 12", "failed", 12),
        ("exited with exit code 1", "failed", 1),
        ("boom\nexit status 2", "failed", 2),
        ('{"output": "boom", "exit_code": 3}', "failed", 3),
        ("<returncode>1</returncode>", "failed", 1),
        ("Command failed with exit code: 127", "failed", 127),
        ("[Command finished with exit code 5]", "failed", 5),
        ("Error: no", "failed", None),
        ("an Error: no", "failed", None),
        ("an Error: no\none\ntwo\nthree", "ok", None),
        ("<tool_use_error>no", "failed", None),
        ("ran\n3 failed, 2 passed", "failed", None),
        ("ran\n0 failed, 2 passed", "ok", None),
        ("ran\nFixed 12 errors.", "ok", None),
        ("ran\nFAILED", "failed", None),
        ("3 failed\nran", "failed", None),
        ("fatal: not a repository", "failed", None),
        ("pwsh: no\n    + FullyQualifiedErrorId : CommandNotFoundException", "failed", None),
        ("sh: gcc: command not found", "failed", None),
        ("Command timed out after 5 seconds", "timed out", None),
        ("Operation aborted", "interrupted", None),
        ("User denied permission to run it", "denied", None),
        # A code counts on the first line and on the last one.
        (f"Exit code 2\n{FAR}{FAR}", "failed", 2),
        (f"{FAR}{FAR}\nexited with code 2", "failed", 2),
        ("made\nexited with code 2\nmade", "ok", None),
        (f"exited with code {'9' * 10}", "failed", 9_999_999_999),
    ],
)
def test_a_command_failed_by_its_exit_code_or_else_by_its_first_or_last_line(
    output: str, outcome: CallOutcome, code: int | None
) -> None:
    found = ran(output)
    assert (found.outcome, found.exit_code) == (outcome, code)
    assert found.is_inferred is (code is None)


def test_a_look_fails_by_its_report_and_not_by_what_it_shows() -> None:
    assert ran("3 failed", "cat log").outcome == "ok"
    assert ran("3 failed", "cat log", is_error=True).outcome == "failed"
    assert ran("Exit code 1", "cat log").exit_code == 1
    assert ran("no code", is_error=True).exit_code is None
    assert judged("3 failed", call_part("c", "Fetch", url="x")).outcome == "ok"


def test_a_shell_that_ended_well_tells_nothing_of_a_program_before_the_last() -> None:
    assert ran("3 failed", "make", outcome="ok").outcome == "ok"
    assert ran("3 failed", "make | tail -3", outcome="ok").outcome == "failed"
    assert ran("Exit code 0\n3 failed", "make | tail -3").outcome == "failed"
    assert ran("3 passed", "make | tail -3", outcome="ok").outcome == "ok"


@pytest.mark.parametrize(
    ("tool", "text", "outcome"),
    [
        ("Edit", "The file a.py has been updated. Error: none", "ok"),
        ("Edit", "Successfully replaced text; no errors were found", "ok"),
        ("Edit", "done", "ok"),
        ("Edit", "No changes were made.", "failed"),
        ("Write", "Error: the folder is missing", "failed"),
        ("Edit", "The user doesn't want to proceed with this edit.", "denied"),
        ("ExitPlanMode", "The user has approved the plan.", "ok"),
        ("ExitPlanMode", "The plan was not approved.", "denied"),
        ("ExitPlanMode", "The plan was shown.", "unknown"),
        ("AskUserQuestion", "Error: no, take port 7", "ok"),
        ("AskUserQuestion", "", "unknown"),
        ("Read", "Error: file not found: a.py", "failed"),
        ("Read", "Error: file not found: a.py\n1\n2\n3", "ok"),
        ("Read", "print(1)", "ok"),
        ("Deploy", '{"error": "no such server"}', "failed"),
        ("Deploy", '{"error": null}', "ok"),
    ],
)
def test_what_counts_as_a_sign_of_failure_depends_on_the_tool(
    tool: str, text: str, outcome: CallOutcome
) -> None:
    found = judged(text, call_part("c", tool))
    assert (found.outcome, found.exit_code) == (outcome, None)
    assert found.is_inferred == (outcome != "unknown")


def test_a_tool_that_is_not_known_runs_a_command_if_an_argument_names_one() -> None:
    assert judged("ran\n3 failed", call_part("c", "Sandbox", cmd="make")).outcome == "failed"
    assert judged("ran\n3 failed", call_part("c", "Sandbox", page="make")).outcome == "ok"


@pytest.mark.parametrize(
    ("client", "text", "outcome", "code"),
    [
        (CLAUDE_CODE, "Exit code 2\nboom", "failed", 2),
        (CLAUDE_CODE, "Exit code 143\nCommand timed out after 2m", "timed out", 143),
        (CLAUDE_CODE, "[Request interrupted by user for tool use]", "interrupted", None),
        (CLAUDE_CODE, "Permission to use Bash with command x has been denied.", "denied", None),
        (CODEX, "Exit code: 1\nWall time: 1 seconds\nOutput:\nno", "failed", 1),
        (CODEX, "aborted by user after 3.1s", "interrupted", None),
        (CODEX, 'exec command rejected by user: "x"', "denied", None),
        (OPENCODE, "The user rejected permission to use this specific tool call.", "denied", None),
        (OPENCODE, "x\n(Command timed out after 5 s)", "timed out", None),
        (GEMINI_CLI, "Output: x\nExit Code: 3\nProcess Group PGID: 9", "failed", 3),
        (QWEN_CODE, "Exit Code: 3\nSignal: (none)\nProcess Group PGID: 9", "failed", 3),
        (COPILOT_CLI, "x\n<exited with exit code 4>", "failed", 4),
        (PI, "x\nCommand exited with code 5", "failed", 5),
        (VSCODE_CHAT, "The user cancelled the tool call.", "denied", None),
        (CLINE, "Command executed in '/w'. Exit code: 6\nOutput:\nno", "failed", 6),
        (AGENT_CODE, "no\nExit code: 7", "failed", 7),
    ],
)
def test_the_words_of_a_client_refine_a_failure(
    client: Wrapping, text: str, outcome: CallOutcome, code: int | None
) -> None:
    found = ran(text, client=client, is_error=True)
    assert (found.outcome, found.exit_code, found.is_inferred) == (outcome, code, False)


@pytest.mark.parametrize(
    ("client", "text", "process"),
    [
        (CLAUDE_CODE, "Command running in background with ID: b1. Output is written to x", "b1"),
        (CODEX, "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n", "7"),
        (GEMINI_CLI, "Command moved to background (PID: 31).", "31"),
        (QWEN_CODE, "Background shell started.\nid: bg_7\npid: 9", "bg_7"),
        (COPILOT_CLI, "<command started in background with shellId: s2>", "s2"),
        (VSCODE_CHAT, "Command is running in terminal with ID=t-3", "t-3"),
        (AGENT_CODE, "Command running in background (task k4)", "k4"),
    ],
)
@pytest.mark.parametrize("stated", ["ok", "unknown"])
def test_of_a_command_that_goes_on_nobody_knows_how_it_ended(
    client: Wrapping, text: str, process: str, stated: CallOutcome
) -> None:
    found = ran(text, client=client, outcome=stated)
    assert (found.outcome, found.process) == ("unknown", process)


def test_a_client_that_marks_failures_says_of_all_others_that_they_went_well() -> None:
    for client in (CLAUDE_CODE, PI, AGENT_CODE):
        found = ran("3 failed", client=client)
        assert (found.outcome, found.is_inferred) == ("ok", False)
        assert ran("3 failed", "make | tail -3", client).outcome == "failed"
        assert ran("", client=client, cleared=True).outcome == "unknown"
    assert ran("", cleared=True).outcome == "unknown"


def test_what_a_record_states_stays_where_no_words_refine_it() -> None:
    read = call_part("c", "Read", file_path="a.py")
    for stated in ("ok", "failed", "denied", "timed out", "interrupted"):
        found = judged("Error: file not found: a.py", read, outcome=stated)
        assert (found.outcome, found.is_inferred) == (stated, False)


def test_a_flag_of_a_record_may_stand_for_a_success_or_for_a_failure() -> None:
    assert [stated_outcome(flag) for flag in (True, False)] == ["ok", "failed"]
    assert [stated_outcome(flag, success=False) for flag in (True, False)] == ["failed", "ok"]
    assert [stated_outcome(flag) for flag in (None, "true", 1)] == ["unknown"] * 3


def test_results_of_a_message_are_judged_by_calls_before_them() -> None:
    calls: dict[Any, ToolCallPart] = {}
    asked = call_part("c", "Bash", command="cat log")
    assert with_outcomes((asked,), calls, UNKNOWN_CLIENT.results) == (asked,)
    found = with_outcomes((result_part("c", "3 failed"),), calls, UNKNOWN_CLIENT.results)
    assert [part.outcome for part in found if isinstance(part, ToolResultPart)] == ["ok"]
