"""What each client writes of a call that ended in each of the ways that it has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from formats.codex import rollouts as codex
from outcomes.written_calls import CLIENTS
from voices.place import Record
from voices.wordings import CORRECTED, DENIED, TURNED_DOWN

from compactctl.clients.registry import ALL_FORMATS
from compactctl.model.message import CallOutcome

Work = Literal["edit", "write", "run"]


@dataclass(frozen=True)
class Ending:
    """How a call ended, and what the client writes of that.

    Without a text there is no result; with the field ``ends`` the session ends there.
    """

    client: str
    work: Work
    name: str
    outcome: CallOutcome
    text: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    code: int | None = None

    def __str__(self) -> str:
        return f"{self.client}-{self.work}-{self.name}".replace(" ", "_")


Row = tuple[tuple[Work, ...], Any]


def _run(
    name: str, outcome: CallOutcome, text: str | None, code: int | None = None, **fields: Any
) -> Row:
    return ("run",), (name, outcome, text, fields, code)


def _edit(
    name: str, outcome: CallOutcome, text: str | None, code: int | None = None, **fields: Any
) -> Row:
    return ("edit",), (name, outcome, text, fields, code)


def _write(name: str, outcome: CallOutcome, text: str | None, **fields: Any) -> Row:
    return ("write",), (name, outcome, text, fields, None)


def _all(name: str, outcome: CallOutcome, text: str | None, **fields: Any) -> Row:
    return ("edit", "write", "run"), (name, outcome, text, fields, None)


_REPORT = "reading the tide tables\n12 tides are tabled"
_BROKEN = "make: *** [harbour.mk:7: tides] Error 1"
_NONE = _all("no result", "unknown", None, ends=True)
_GOES_ON = _all("no result, but the talk goes on", "unknown", None)
_STOP = "STOP what you are doing and wait for the user to tell you how to proceed."
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    f"a file edit, the new_string was NOT written to the file). {_STOP}"
)
_WORDS = "Leave the quay as it is."
_ERROR: Record = {"is_error": True}
_CLAUDE = (
    _run(
        "sent to the background",
        "unknown",
        "Command was manually backgrounded by user with ID: b3. Output is in /tmp/b3",
        is_error=False,
    ),
    _write("ok", "ok", "File created successfully at: src/quay.py"),
    _write("ok, again", "ok", "The file src/quay.py has been overwritten successfully."),
    _write(
        "failed",
        "failed",
        "<tool_use_error>File has not been read yet. Read it first before writing to it."
        "</tool_use_error>",
        **_ERROR,
    ),
    _edit("ok", "ok", "The file src/quay.py has been updated successfully."),
    _edit(
        "ok, with an excerpt",
        "ok",
        "The file src/quay.py has been updated. Here's the result "
        "of running `cat -n` on a snippet of the edited file:\n     1\ttide = 4",
    ),
    _edit(
        "failed",
        "failed",
        "<tool_use_error>String to replace not found in file.\nString: tide = 3</tool_use_error>",
        **_ERROR,
        toolUseResult="Error: String to replace not found in file.",
    ),
    _edit(
        "failed, not read",
        "failed",
        "<tool_use_error>File has not been read yet. Read it first "
        "before writing to it.</tool_use_error>",
        **_ERROR,
    ),
    _all(
        "denied",
        "denied",
        _REJECTED,
        **_ERROR,
        toolUseResult="User rejected tool use",
        toolDenialKind="user-rejected",
    ),
    _all("denied with words", "denied", TURNED_DOWN.format(words=_WORDS), **_ERROR),
    _edit("denied by a rule", "denied", "Permission to use Edit has been denied.", **_ERROR),
    _run(
        "denied by a rule",
        "denied",
        "Permission to use Bash with command make tides has been denied.",
        **_ERROR,
    ),
    _run(
        "denied by a classifier",
        "denied",
        "Permission for this action was denied by the Claude "
        "Code auto mode classifier. Reason: it leaves the harbour.",
        **_ERROR,
    ),
    _all("interrupted", "interrupted", "[Request interrupted by user for tool use]", **_ERROR),
    _all(
        "not run",
        "interrupted",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        **_ERROR,
    ),
    _all(
        "not run, newer words",
        "interrupted",
        "Cancelled: parallel tool call Bash(make quay) errored",
        **_ERROR,
    ),
    _run(
        "ok",
        "ok",
        _REPORT,
        is_error=False,
        toolUseResult={"stdout": _REPORT, "stderr": "", "interrupted": False, "isImage": False},
    ),
    _run("ok, without a flag", "ok", _REPORT),
    _run("ok, speaking of a failure", "ok", "rerun of gate 3: FAILED", is_error=False),
    _run(
        "failed",
        "failed",
        f"Exit code 2\n{_BROKEN}",
        2,
        **_ERROR,
        toolUseResult=f"Error: Exit code 2\n{_BROKEN}",
    ),
    _run("failed, older words", "failed", _BROKEN, **_ERROR),
    _run(
        "timed out",
        "timed out",
        "Exit code 143\nCommand timed out after 2m 0s\ntide 1",
        143,
        **_ERROR,
    ),
    _run("timed out, older words", "timed out", "Command timed out after 2m 0.0s", **_ERROR),
    _run(
        "interrupted by a key",
        "interrupted",
        "tide 1\n<error>Command was aborted before completion</error>",
        toolUseResult={"stdout": "tide 1", "stderr": "", "interrupted": True},
    ),
    _run(
        "running",
        "unknown",
        "Command running in background with ID: bash_1",
        is_error=False,
        toolUseResult={"stdout": "", "stderr": "", "backgroundTaskId": "bash_1"},
    ),
    _run(
        "running after its time",
        "unknown",
        "Command did not complete within its 120s timeout "
        "and was moved to the background (ID: b7). Output is being written to: /tmp/b7",
        is_error=False,
        toolUseResult={"stdout": "", "timedOutAfterMs": 120_000},
    ),
    _NONE,
    _GOES_ON,
)
_PATCHED = "Success. Updated the following files:\nM src/quay.py\n"
_UNIFIED = "Chunk ID: 4f\nWall time: 0.4 seconds\n{}\nOriginal token count: 9\nOutput:\n" + _REPORT
_ABORTED = (
    "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec "
    "processes may still be running in the background.\n</turn_aborted>"
)
_CODEX = (
    _run("failed in the sandbox", "failed", "Command denied by sandbox: no pier"),
    _edit("ok", "ok", f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{_PATCHED}", 0),
    _edit(
        "ok, older words",
        "ok",
        '{"output":"Success. Updated the following files:\\nM '
        'src/quay.py\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}',
        0,
    ),
    _edit(
        "failed",
        "failed",
        "apply_patch verification failed: Failed to find expected lines in "
        "/work/shop/src/quay.py:\ntide = 3",
    ),
    _edit(
        "failed to write",
        "failed",
        "Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed to write file src/quay.py",
        1,
    ),
    _edit("denied", "denied", "patch rejected by user"),
    _edit(
        "denied by policy",
        "denied",
        "patch rejected: writing outside of the project; rejected by user approval settings",
    ),
    _run("ok", "ok", _UNIFIED.format("Process exited with code 0"), 0),
    _run(
        "ok, older words",
        "ok",
        '{"output":"12 tides are tabled\\n","metadata":{"exit_code":0,"duration_seconds":0.4}}',
        0,
    ),
    _run("failed", "failed", _UNIFIED.format("Process exited with code 2"), 2),
    _run(
        "failed, freeform", "failed", f"Exit code: 2\nWall time: 1 seconds\nOutput:\n{_BROKEN}", 2
    ),
    _run(
        "failed, older words",
        "failed",
        '{"output":"no rule\\n","metadata":{"exit_code":2,"duration_seconds":0.4}}',
        2,
    ),
    _run(
        "not started",
        "failed",
        'exec_command failed for `make tides`: CreateProcess { message: "no such pier" }',
    ),
    _run("denied", "denied", "exec command rejected by user"),
    _run(
        "denied by policy",
        "denied",
        "approval policy is Never; reject command \u2014 you cannot "
        "ask for escalated permissions if the approval policy is Never",
    ),
    _all(
        "denied by a guardian",
        "denied",
        "This action was rejected due to unacceptable risk.\nReason: the tide is high.",
    ),
    _run(
        "timed out",
        "timed out",
        "Exit code: 124\nWall time: 10 seconds\nOutput:\n"
        "command timed out after 10000 milliseconds\ntide 1",
        124,
    ),
    _run(
        "timed out, older words",
        "timed out",
        '{"output":"command timed out after 10000 '
        'milliseconds\\ntide 1","metadata":{"exit_code":124,"duration_seconds":10.0}}',
        124,
    ),
    _all("interrupted", "interrupted", "aborted by user after 3.1s"),
    _run("interrupted, freeform", "interrupted", "Wall time: 3.1 seconds\naborted by user"),
    _run("running", "unknown", _UNIFIED.format("Process running with session ID 7")),
    _all(
        "no result, turn aborted",
        "unknown",
        None,
        after=(codex.event("turn_aborted", reason="interrupted"), codex.message("user", _ABORTED)),
    ),
    _NONE,
    _GOES_ON,
)
_FAILURE: Record = {"error_code": "failure"}
_REFUSAL: Record = {"error_code": "rejected"}
_COPILOT = (
    _run(
        "failed, of a process",
        "failed",
        f"{_BROKEN}\n<command with id: 3 exited with exit code 2>",
        2,
    ),
    _write("ok", "ok", "Created file src/quay.py with 9 characters"),
    _write("failed", "failed", "Path already exists", **_FAILURE),
    _edit("ok", "ok", "File src/quay.py updated with changes."),
    _edit("failed", "failed", "No match found", **_FAILURE),
    _all("denied", "denied", "The user rejected this tool call.", **_REFUSAL),
    _all(
        "denied with words",
        "denied",
        f"The user rejected this tool call. User feedback: {_WORDS}",
        **_REFUSAL,
    ),
    _all(
        "denied without asking",
        "denied",
        "Permission denied and could not request permission from user",
        error_code="denied",
    ),
    _all("denied by a hook", "denied", "Denied by preToolUse hook: not at high tide", **_FAILURE),
    _all(
        "interrupted",
        "interrupted",
        "The execution of this tool, or a previous tool was interrupted.",
        **_FAILURE,
    ),
    _run("ok", "ok", f"{_REPORT}\n<shellId: 0 completed with exit code 0>", 0),
    _run("ok, older words", "ok", f"{_REPORT}\n<exited with exit code 0>", 0),
    _run("failed", "failed", f"{_BROKEN}\n<shellId: 0 completed with exit code 2>", 2),
    _run("failed, older words", "failed", f"{_BROKEN}\n<exited with exit code 2>", 2),
    _run("failed to start", "failed", "Path does not exist", **_FAILURE),
    _run(
        "running",
        "unknown",
        "tide 1\n<command with shellId: 0 is still running after 30 "
        "seconds. The command is still running. Use read_bash to continue waiting.>",
    ),
    _run("started", "unknown", "<command started in background with shellId: 0>"),
    _run("detached", "unknown", "<command started in detached background with shellId: 0>"),
    _NONE,
    _GOES_ON,
)
_WRONG: Record = {"status": "error"}
_CANCELLED: Record = {"status": "cancelled"}
_GEMINI = (
    _edit(
        "ok, as edited by the user",
        "ok",
        "Successfully modified file: src/quay.py (1 "
        "replacements). User modified the `new_string` content to be: tide = 5.",
    ),
    _run("ok, without a signal", "ok", "Output: 12 tides\nSignal: 0\nProcess Group PGID: 31"),
    _run(
        "interrupted before its start",
        "interrupted",
        "Command was cancelled by user before it could start.",
    ),
    _write("ok", "ok", "Successfully created and wrote to new file: src/quay.py."),
    _write("ok, again", "ok", "Successfully overwrote file: src/quay.py."),
    _write("failed", "failed", "File already exists, cannot create: src/quay.py", **_WRONG),
    _run(
        "interrupted with an output",
        "interrupted",
        "[Operation Cancelled] User cancelled tool execution.",
        **_CANCELLED,
        partial={"output": "tide 1"},
    ),
    _edit("ok", "ok", "Successfully modified file: src/quay.py (1 replacements)."),
    _edit(
        "failed",
        "failed",
        "Failed to edit, 0 occurrences found for old_string in src/quay.py.",
        **_WRONG,
    ),
    _all("denied", "denied", "[Operation Cancelled] Reason: User denied execution.", **_CANCELLED),
    _all(
        "denied, older words",
        "denied",
        "[Operation Cancelled] Reason: User did not allow tool call",
        **_CANCELLED,
    ),
    _all("denied by policy", "denied", "Tool execution denied by policy.", **_WRONG),
    _all("denied by a hook", "denied", "Tool execution blocked: not at high tide", **_WRONG),
    _all(
        "interrupted",
        "interrupted",
        "[Operation Cancelled] Reason: User cancelled operation",
        **_CANCELLED,
    ),
    _all("not run", "interrupted", "Tool call cancelled while in queue.", **_CANCELLED),
    _run("ok", "ok", f"Output: {_REPORT}\nProcess Group PGID: 31"),
    _run(
        "ok, wrapped",
        "ok",
        "<untrusted_context>\nOutput: 12 tides are tabled\n"
        "Process Group PGID: 31\n</untrusted_context>",
    ),
    _run(
        "ok, older words",
        "ok",
        "Command: make tides\nDirectory: (root)\nOutput: 12 tides\n"
        "Error: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\n"
        "Process Group PGID: 31",
        0,
    ),
    _run("failed", "failed", f"Output: {_BROKEN}\nExit Code: 2\nProcess Group PGID: 31", 2),
    _run(
        "failed, wrapped",
        "failed",
        f"<untrusted_context>\nOutput: {_BROKEN}\nExit Code: 2\n"
        "Process Group PGID: 31\n</untrusted_context>",
        2,
    ),
    _run(
        "failed, older words",
        "failed",
        "Command: make tides\nDirectory: (root)\nOutput: no\n"
        "Error: (none)\nExit Code: 2\nSignal: (none)\nBackground PIDs: (none)\n"
        "Process Group PGID: 31",
        2,
    ),
    _run("killed", "failed", "Output: tide 1\nSignal: 9\nProcess Group PGID: 31"),
    _run(
        "timed out",
        "timed out",
        "Command was automatically cancelled because it exceeded the "
        "timeout of 5.0 minutes without output. Below is the output before it was cancelled:\n"
        "tide 1",
    ),
    _run(
        "interrupted by a key",
        "interrupted",
        "Command was cancelled by user before it could "
        "complete. There was no output before it was cancelled.",
    ),
    _run("started", "unknown", "Command is running in background. PID: 31. Initial output:\n"),
    _run(
        "running",
        "unknown",
        "Command moved to background (PID: 31). Output hidden. Press Ctrl+B to view.",
    ),
    _NONE,
    _GOES_ON,
)
_OPENCODE = (
    _write("ok", "ok", "Wrote file successfully."),
    _write(
        "failed",
        "failed",
        "Error: You must read file src/quay.py before overwriting it. Use the Read tool first",
        **_WRONG,
    ),
    _edit("ok", "ok", "Edit applied successfully."),
    _edit(
        "ok, with errors of a server",
        "ok",
        "Edit applied successfully.\n\nLSP errors detected "
        "in src/quay.py, please fix:\nERROR [3:1] tide is not defined",
    ),
    _edit("failed", "failed", "Error: oldString not found in content", **_WRONG),
    _all(
        "denied",
        "denied",
        "Error: The user rejected permission to use this specific tool call.",
        **_WRONG,
    ),
    _all(
        "denied, older words",
        "denied",
        "The user rejected permission to use this specific tool "
        "call. You may try again with different parameters.",
        **_WRONG,
    ),
    _all("denied with words", "denied", CORRECTED.format(words=_WORDS), **_WRONG),
    _all(
        "denied by a rule",
        "denied",
        "The user has specified a rule which prevents you from using this specific tool call.",
        **_WRONG,
    ),
    _all("interrupted", "interrupted", "Tool execution aborted", **_WRONG),
    _all("never ended", "interrupted", None, status="running"),
    _all("never began", "interrupted", None, status="pending"),
    _run("ok", "ok", _REPORT, 0, metadata={"exit": 0}),
    _run("failed", "failed", _BROKEN, 2, metadata={"exit": 2}),
    _run("failed in silence", "failed", "(no output)", 1, metadata={"exit": 1}),
    _run("failed to start", "failed", "Error: no such pier", **_WRONG),
    _run(
        "timed out",
        "timed out",
        "tide 1\n\n<bash_metadata>\nbash tool terminated command after "
        "exceeding timeout 120000 ms\n</bash_metadata>",
        metadata={"exit": None},
    ),
    _run(
        "timed out, newer words",
        "timed out",
        "tide 1\n\n<shell_metadata>\nshell tool terminated "
        "command after exceeding timeout 120000 ms. If this command is expected to take longer, "
        "retry with a larger timeout.\n</shell_metadata>",
        metadata={"exit": None},
    ),
    _run(
        "timed out, older words",
        "timed out",
        "tide 1\n(Command timed out after 120000 ms)",
        metadata={"exit": None},
    ),
    _run(
        "interrupted by a key",
        "interrupted",
        "tide 1\n\n<bash_metadata>\nUser aborted the command\n</bash_metadata>",
        metadata={"exit": None},
    ),
    _run(
        "interrupted, older words",
        "interrupted",
        "tide 1\n(Command was aborted)",
        metadata={"exit": None},
    ),
)
_PI = (
    _write("ok", "ok", "Successfully wrote 9 bytes to src/quay.py"),
    _write("failed", "failed", "File not found: src/quay.py", isError=True),
    _edit("ok", "ok", "Successfully replaced text in src/quay.py."),
    _edit("failed", "failed", "Could not find the exact text in src/quay.py.", isError=True),
    _all("denied", "denied", "Blocked by user", isError=True),
    _all("denied, no reason", "denied", "Tool execution was blocked", isError=True),
    _all("interrupted", "interrupted", "Operation aborted", isError=True),
    _all("not run", "interrupted", "Skipped due to queued user message.", isError=True),
    _run("ok", "ok", _REPORT),
    _run("ok in silence", "ok", "(no output)"),
    _run("failed", "failed", f"{_BROKEN}\n\nCommand exited with code 2", 2, isError=True),
    _run("failed to start", "failed", "Working directory does not exist: /pier", isError=True),
    _run("timed out", "timed out", "tide 1\n\nCommand timed out after 30 seconds", isError=True),
    _run("interrupted by a key", "interrupted", "tide 1\n\nCommand aborted", isError=True),
    _run(
        "started",
        "unknown",
        "Started 1 background task job using architect. Results will be delivered when complete.",
    ),
    _NONE,
    _GOES_ON,
)
_AGENT_CODE = (
    _edit("ok", "ok", "Applied 1 edit(s) to src/quay.py"),
    _edit("failed", "failed", "edits[0]: old_string not found in src/quay.py", **_ERROR),
    _all("denied", "denied", "Permission denied by user", **_ERROR),
    _all("denied by a rule", "denied", "Permission denied: not at high tide", **_ERROR),
    _all("interrupted", "interrupted", "(tool execution was interrupted)", **_ERROR),
    _run("ok", "ok", _REPORT),
    _run("failed", "failed", f"{_BROKEN}\nExit code: 2", 2, **_ERROR),
    _run("running", "unknown", "Command running in background (task k4). Output follows."),
    _NONE,
    _GOES_ON,
)
_RESUMPTION = (
    "[TASK RESUMPTION] This task was interrupted 3 minutes ago.\n\nNew instructions for task "
    "continuation:\n<user_message>\nLook at the pier first.\n</user_message>"
)
_RESUMED = _all(
    "no result, but the task goes on",
    "unknown",
    None,
    ends=True,
    after=(_RESUMPTION,),
)
_CLINE_EDITED = "The content was successfully saved to src/quay.py."
_TOOL_FAILED = "The tool execution failed with the following error:\n<error>\nno pier\n</error>"
_NOT_MATCHED = (
    "<error>The SEARCH block:\ntide = 3\n...does not match anything in the file.\n</error>"
)
_CLINE = (
    _write("ok", "ok", "The content was successfully saved to src/quay.py."),
    _write(
        "ok with words",
        "ok",
        "The user made the following updates to your content:\n\n-tide = 4\n+tide = 5\n\nThe "
        "updated content has been successfully saved to src/quay.py.",
    ),
    _write(
        "failed",
        "failed",
        "The tool execution failed with the following error:\n<error>\nno pier\n</error>",
    ),
    _edit("ok", "ok", _CLINE_EDITED),
    _edit("failed", "failed", _TOOL_FAILED),
    _edit("failed, no match", "failed", _NOT_MATCHED),
    _edit(
        "failed, a parameter",
        "failed",
        "Missing value for required parameter 'diff'. Please retry with complete response.",
    ),
    _all("denied", "denied", "The user denied this operation."),
    _all("denied with words", "denied", DENIED.format(words=_WORDS)),
    _run(
        "denied by a rule",
        "denied",
        "Command execution blocked by CLINE_COMMAND_PERMISSIONS: make is not listed",
    ),
    _run("ok", "ok", f"Command executed.\nOutput:\n{_REPORT}"),
    _run("failed", "failed", _TOOL_FAILED),
    _run("timed out", "timed out", "Command execution timed out after 30 seconds."),
    _run(
        "running",
        "unknown",
        "Command is still running in the user's terminal.\nHere's the output "
        "so far:\ntide 1\n\nYou will be updated on the terminal status and new output in the "
        "future.",
    ),
    _NONE,
    _RESUMED,
)
_ROO_RAN = "Command executed in terminal within working directory '/work/shop'."
_ROO_WORDS = (
    _run("ok", "ok", f"{_ROO_RAN} Exit code: 0\nOutput:\n{_REPORT}", 0),
    _run(
        "failed",
        "failed",
        f"{_ROO_RAN} Command execution was not successful, inspect the cause "
        f"and adjust as needed.\nExit code: 2\nOutput:\n{_BROKEN}",
        2,
    ),
    _run("killed", "failed", f"{_ROO_RAN} Process terminated by signal SIGKILL\nOutput:\ntide 1"),
    _run(
        "timed out",
        "timed out",
        "The command was terminated after exceeding a user-configured "
        "30s timeout. Do not try to re-run the command.",
    ),
    _run(
        "running",
        "unknown",
        "Command is still running in terminal  from '/work/shop'.\nHere's "
        "the output so far:\ntide 1\nYou will be updated on the terminal status and new output in "
        "the future.",
    ),
    _edit(
        "failed, no match",
        "failed",
        "Unable to apply diff to file: src/quay.py\n\n<error_details>\nNo match\n</error_details>",
    ),
    _all(
        "interrupted",
        "interrupted",
        "Task was interrupted before this tool call could be completed.",
    ),
    _NONE,
    _RESUMED,
)
_ROO = (
    *_ROO_WORDS,
    _all(
        "failed by JSON",
        "failed",
        '{"status":"error","message":"The tool execution failed","error":"no pier"}',
    ),
    _all("denied", "denied", '{"status":"denied","message":"The user denied this operation."}'),
    _all("denied with words", "denied", f'{{"status":"denied","feedback":"{_WORDS}"}}'),
    _edit("denied, changes", "denied", "Changes were rejected by the user."),
    _run(
        "approved with words",
        "ok",
        f'{{"status":"approved","feedback":"{_WORDS}"}}\n\n{_ROO_RAN} Exit code: 0\nOutput:\n12',
        0,
    ),
    _all("not run", "interrupted", "Tool execution was interrupted before completion."),
)
_ROO_XML = (
    *_ROO_WORDS,
    _edit(
        "ok",
        "ok",
        "<file_write_result>\n<path>src/quay.py</path>\n<operation>modified"
        "</operation>\n</file_write_result>",
    ),
    _all("failed", "failed", _TOOL_FAILED),
    _all("denied", "denied", "The user denied this operation."),
)
_SDK = (
    _run("ok", "ok", '[{"query":"make tides","result":"12 tides","success":true}]'),
    _run(
        "failed",
        "failed",
        '[{"query":"make tides","result":"[Command exited with code 2]\\nno",'
        '"error":"Command exited with code 2","success":false}]',
    ),
    _run("denied", "denied", '{"error":"Tool \\"run_commands\\" was not approved"}', **_ERROR),
    _run("no result", "unknown", None, ends=True),
)
_VSCODE = (
    _edit(
        "ok, with errors of a linter",
        "ok",
        "The edit to src/quay.py was applied successfully.\n"
        "The edit resulted in the following lint errors:\nerror: tide is not defined",
    ),
    _run(
        "running, as edited by the user",
        "unknown",
        "Note: The user manually edited the command to "
        "`make`, and that command is now running in terminal with ID=t-3",
    ),
    _write(
        "failed",
        "failed",
        "ERROR while calling tool: File already exists. You must use an edit tool to modify it.\n"
        "Please check your input and try again.",
    ),
    _edit("ok", "ok", "The following files were successfully edited:\nsrc/quay.py"),
    _edit("failed", "failed", "String replacement failed: Could not find matching text to replace"),
    _edit("failed patch", "failed", "Applying patch failed with error: no such pier"),
    _all(
        "failed call",
        "failed",
        "ERROR while calling tool: no such pier\nPlease check your input and try again.",
    ),
    _all(
        "failed, disabled",
        "failed",
        "Tool quay is currently disabled by the user, and cannot be called.",
    ),
    _all("denied", "denied", "The user cancelled the tool call."),
    _all(
        "denied, skipped",
        "denied",
        "The user chose to skip the tool call, they want to proceed without running it",
    ),
    _run("ok", "ok", _REPORT),
    _run("ok in silence", "ok", "Command produced no output"),
    _run("failed", "failed", f"{_BROKEN}\nCommand exited with code 2", 2),
    _run(
        "timed out",
        "timed out",
        "Note: Command timed out after 30000ms. The command may still be "
        "running in terminal ID t-3.",
    ),
    _run(
        "running",
        "unknown",
        "Command is running in terminal with ID=t-3\n The command became idle with output:\ntide 1",
    ),
    _run(
        "moved",
        "unknown",
        "Note: This terminal execution was moved to the background using the ID t-3",
    ),
    _NONE,
    _GOES_ON,
)
_MINI = (
    _run("ok", "ok", f"<returncode>0</returncode>\n<output>\n{_REPORT}\n</output>", 0),
    _run("failed", "failed", f"<returncode>2</returncode>\n<output>\n{_BROKEN}\n</output>", 2),
    _run("ok, as JSON", "ok", '{"returncode": 0, "output": "12 tides"}', 0),
    _run(
        "failed, as JSON",
        "failed",
        '{"returncode": 2, "output": "no tide"}',
        2,
        extra={"raw_output": "no tide", "returncode": 2},
    ),
    _run(
        "interrupted",
        "interrupted",
        f"Interrupted by user: {_WORDS}",
        extra={"interrupt_type": "UserInterruption"},
    ),
    _run("no result", "unknown", None, ends=True),
)
_BAD: Record = {"success": False}
_NEUROLINK = (
    _write("ok", "ok", "Wrote src/quay.py"),
    _edit("ok", "ok", "Edited src/quay.py"),
    _edit("failed", "failed", "No such pier", **_BAD, error="No such pier"),
    _all("denied", "denied", "Tool execution was rejected by user", **_BAD),
    _all("timed out", "timed out", "Tool execution timed out after 30000ms", **_BAD),
    _all("interrupted", "interrupted", "Tool execution was aborted", **_BAD),
    _run("ok", "ok", _REPORT),
    _run("failed", "failed", _BROKEN, **_BAD, error=_BROKEN),
    _NONE,
    _GOES_ON,
)


def _api(**failed: Any) -> tuple[Row, ...]:
    """Return what programs say in the words of no client, ``failed`` is how their API marks it."""
    return (
        _edit("ok", "ok", "Successfully edited src/quay.py"),
        _write("ok", "ok", "File written"),
        _edit("failed", "failed", "Error: no match for tide = 3 in src/quay.py", **failed),
        _all("denied", "denied", "The user denied this operation.", **failed),
        _all("timed out", "timed out", "Tool execution timed out after 30000 ms", **failed),
        _all("interrupted", "interrupted", "Operation aborted", **failed),
        _run("ok", "ok", _REPORT),
        _run("ok, with a code", "ok", f"{_REPORT}\nExit code: 0", 0),
        _run("failed", "failed", f"{_BROKEN}\nExit code: 2", 2, **failed),
        _run("failed, by its last line", "failed", f"{_REPORT}\n3 failed, 2 passed", **failed),
        _run("running", "unknown", "Command is still running in the background"),
        _NONE,
        _GOES_ON,
    )


_SHELL_END = "Signal: (none)\nProcess Group PGID: 31"
_QWEN = (
    _edit("ok", "ok", "The file: src/quay.py has been updated."),
    _write("ok", "ok", "Successfully created and wrote to new file: src/quay.py."),
    _edit("failed", "failed", "Failed to edit, could not find the string to replace.", **_WRONG),
    _all(
        "denied",
        "denied",
        "[Operation Cancelled] Reason: User did not allow tool call",
        **_CANCELLED,
    ),
    _all("interrupted", "interrupted", "[Operation Cancelled]", **_CANCELLED),
    _run(
        "ok",
        "ok",
        f"Command: make tides\nDirectory: (root)\nOutput: 12 tides\nExit Code: 0\n{_SHELL_END}",
        0,
    ),
    _run(
        "failed",
        "failed",
        f"Command: make tides\nDirectory: (root)\nOutput: no\nExit Code: 2\n{_SHELL_END}",
        2,
    ),
    _run("timed out", "timed out", "Command timed out after 5000ms before it could complete."),
    _run(
        "interrupted before its end",
        "interrupted",
        "Command was cancelled by user before it could complete.",
    ),
    _run("running", "unknown", "Background shell started.\nid: bg_1"),
    _NONE,
    _GOES_ON,
)
_UI_DENIED = _all("denied by the approval", "denied", _WORDS, state="output-denied")
# What a request holds of a session: the words and, of Claude Code, whether it was an error.
_CODEX_ITEMS = tuple(row for row in _CODEX if "after" not in row[1][3])
_CLAUDE_REQUESTS = tuple(row for row in _CLAUDE if row[1][0] != "interrupted by a key")
_OPENCODE_REQUESTS = (
    *(row for row in _OPENCODE if row[1][4] is None and row[1][2] is not None),
    _run("ok", "ok", _REPORT),
    _NONE,
    _GOES_ON,
)
_TABLES: Mapping[str, tuple[Row, ...]] = {
    "claude-code": _CLAUDE,
    "codex": _CODEX,
    "codex items": _CODEX_ITEMS,
    "copilot-cli": _COPILOT,
    "gemini-cli": _GEMINI,
    "qwen-code": _QWEN,
    "opencode": _OPENCODE,
    "cline": _CLINE,
    "cline SDK": _SDK,
    "roo": _ROO,
    "roo XML": _ROO_XML,
    "pi": _PI,
    "agent-code": _AGENT_CODE,
    "vscode-copilot-chat": _VSCODE,
    "mini-swe-agent": _MINI,
    "neurolink": _NEUROLINK,
    "openai-chat": _api(),
    "openai-chat of OpenCode": _OPENCODE_REQUESTS,
    "openai-responses": _api(),
    "anthropic-messages": (
        *_api(**_ERROR),
        _all("failed by its flag alone", "failed", "no pier", **_ERROR),
    ),
    "anthropic-messages of Claude Code": _CLAUDE_REQUESTS,
    "gemini-api": (
        *_api(key="error"),
        _all("failed by its key alone", "failed", "no pier", key="error"),
    ),
    "bedrock-converse": (
        *_api(**_WRONG),
        _all("failed by its status alone", "failed", "no pier", **_WRONG),
    ),
    "ai-sdk": (
        *_api(state="output-error"),
        _all("failed by its state alone", "failed", "no pier", state="output-error"),
        _UI_DENIED,
    ),
}

UNTOLD = {known.name for known in ALL_FORMATS} - {name.partition(" ")[0] for name in _TABLES}


def _endings() -> Iterator[Ending]:
    for client, rows in _TABLES.items():
        for works, row in rows:
            yield from (
                Ending(client, work, *row) for work in works if work in CLIENTS[client].calls
            )


ENDINGS = tuple(_endings())
