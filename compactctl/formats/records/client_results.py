"""How each client writes in a result how its call ended, as data.

Taken from sessions and sources of the versions named with each; every phrase is a pattern. Names
of groups are the names of processes that go on.
"""

from compactctl.formats.records.outcomes import Ending, ResultWording

# What stands before the state or the exit code in news of a process of Claude Code.
_TAGS = r"(?:<(?!exit_code)\w+>[^<]{0,200}</\w+>\s*){0,6}"

# Claude Code 1.0 to 2.1.
CLAUDE_CODE_RESULTS = ResultWording(
    marks_failures=True,
    code_first=r"Exit code (\d{1,10})",
    starts=(
        Ending("timed out", (r"(?:Exit code \d+\n)?Command timed out after ",)),
        Ending(
            "denied",
            (
                r"The user doesn['\u2019]t want to (?:proceed with this tool use|take this action)",
                r"Permission (?:to use|for this action) .{1,400} denied",
                r"The agent proposed a plan that was rejected",
                r"User dismissed the plan approval",
                r"Claude requested permissions? to ",
                r"File is in a directory that is denied by your permission settings",
            ),
        ),
        Ending(
            "interrupted",
            (
                r"\[Request interrupted by user",
                r"<tool_use_error>Sibling tool call errored",
                r"Cancelled: parallel tool call ",
            ),
        ),
    ),
    despite_success=(
        Ending(
            "unknown",
            (
                r"Command running in background with ID: (?P<started>\w+)",
                r"Command was [\w -]{0,40}backgrounded[^\n]{0,60} with ID: (?P<sent>\w+)",
                r"Command did not complete within [^\n]* to the background \(ID: (?P<moved>\w+)",
            ),
        ),
        Ending("unknown", (r"Async agent launched successfully",), "agent"),
        Ending("unknown", (r"Your plan has been submitted to the team lead for approval",), "plan"),
        Ending("unknown", (rf"{_TAGS}<status>running",), "poll"),
        Ending("failed", (rf"{_TAGS}<exit_code>[1-9]", rf"{_TAGS}<status>failed"), "poll"),
        Ending("interrupted", (rf"{_TAGS}<status>killed",), "poll"),
    ),
    ends=(Ending("interrupted", (r"<error>Command was aborted before completion</error>\s*\Z",)),),
)

# Codex CLI 0.58 to 0.142; the JSON object around an output is of its older versions.
CODEX_RESULTS = ResultWording(
    code_first=(
        r"(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?"
        r"(?:Process exited with code|Exit code:) (-?\d{1,10})"
    ),
    code_last=r'"metadata":\s*\{\s*"exit_code":\s*(-?\d{1,10})[^{}]*\}\s*\}\s*\Z',
    starts=(
        Ending(
            "timed out",
            (
                r'(?:\{"output":")?command timed out after \d+ milliseconds',
                r"Exit code: \d+\nWall time: [^\n]*\n(?:[^\n]*\n)?Output:\ncommand timed out ",
            ),
        ),
        Ending("interrupted", (r"(?:Wall time: [^\n]*\n)?aborted(?: by user\b|\s*\Z)",)),
        Ending(
            "denied",
            (
                r"(?:(?:exec command|patch) )?rejected by user\b",
                r"user (?:rejected|cancelled) MCP tool call",
                r"This action was rejected due to ",
                r"approval policy is ",
                r"patch rejected: ",
            ),
        ),
        Ending(
            "failed",
            (
                r"apply_patch (?:verification failed|handler )",
                r"(?:exec_command|write_stdin) failed\b",
                r"execution error: ",
                r"(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process terminated by signal ",
                r"failed (?:to parse function arguments|in sandbox)\b",
                r"unsupported call: ",
                r"Command denied by sandbox",
                r"Failed to write file ",
            ),
        ),
    ),
    despite_success=(
        Ending(
            "unknown",
            (
                (
                    r"(?:Chunk ID: [^\n]*\n)?Wall time: [^\n]*\n"
                    r"Process running with session ID (?P<session>\d+)"
                ),
            ),
        ),
    ),
)

# OpenCode 1.2, and texts of 0.x.
OPENCODE_RESULTS = ResultWording(
    starts=(
        Ending(
            "denied",
            (
                r"(?:Error: )?The user rejected permission to ",
                r"(?:Error: )?The user has specified a rule ",
                r"(?:Error: )?The user dismissed this ",
            ),
        ),
        Ending("interrupted", (r"(?:Error: )?Tool execution aborted",)),
    ),
    ends=(
        Ending(
            "timed out",
            (
                r"<(?:bash|shell)_metadata>\n\w+ tool terminated command after exceeding ",
                r"\(Command timed out after [^()\n]*\)\s*\Z",
            ),
        ),
        Ending(
            "interrupted",
            (
                r"<(?:bash|shell)_metadata>\nUser aborted the command",
                r"\(Command was aborted\)\s*\Z",
            ),
        ),
    ),
)

# Gemini CLI 0.1 to 0.56.
GEMINI_CLI_RESULTS = ResultWording(
    code_last=(
        r"(?m)^Exit Code: (-?\d{1,10})\n(?:(?:Signal|Background PIDs): [^\n]*\n)*"
        r"(?:Process Group PGID|Background PIDs): [^\n]*(?:\s*</untrusted_context>)?\s*\Z"
    ),
    starts=(
        Ending(
            "denied",
            (
                r"\[Operation Cancelled\] Reason: User (?:denied|did not allow) ",
                r"Tool execution (?:denied by policy|blocked)",
            ),
        ),
        Ending("interrupted", (r"\[Operation Cancelled\]", r"Tool call cancelled while in queue")),
    ),
    despite_success=(
        Ending("denied", (r"Plan rejected\.", r"User cancelled the plan approval dialog"), "plan"),
        Ending(
            "timed out",
            (
                (
                    r"(?:<untrusted_context>\s*)?"
                    r"Command was automatically cancelled because it exceeded "
                ),
            ),
        ),
        Ending(
            "interrupted",
            (r"(?:<untrusted_context>\s*)?Command was cancelled by user ",),
        ),
        Ending(
            "unknown",
            (
                r"Command is running in background\. PID: (?P<started>\d+)",
                r"Command moved to background \(PID: (?P<moved>\d+)",
            ),
        ),
    ),
    ends=(
        Ending(
            "failed",
            (
                (
                    r"(?m)^Signal: (?!\(none\)|0\b)\S+\n(?:[\w ]{1,30}: [^\n]*\n)*"
                    r"Process Group PGID: [^\n]*(?:\s*</untrusted_context>)?\s*\Z"
                ),
            ),
        ),
    ),
)

# Copilot CLI 1.0.
COPILOT_CLI_RESULTS = ResultWording(
    code_last=(
        r"<(?:shellId: \S+ completed|command with id: \S+ exited|exited) "
        r"with exit code (-?\d{1,10})>\s*\Z"
    ),
    starts=(
        Ending(
            "denied",
            (
                r"The user rejected this tool call",
                r"Permission denied and could not request permission",
                r"Denied by preToolUse hook",
            ),
        ),
        Ending(
            "interrupted",
            (r"The execution of this tool, or a previous tool was interrupted",),
        ),
    ),
    despite_success=(Ending("denied", (r"Plan not approved\.",), "plan"),),
    ends=(
        Ending("interrupted", (r"<command with (?:shellId|id): \S+ stopped>\s*\Z",)),
        Ending(
            "unknown",
            (
                r"<command with shellId: (?P<running>\S+) is still running[^<>]*>\s*\Z",
                r"<command started in [\w ]*background with shellId: (?P<started>[^\s>]+)>",
            ),
        ),
    ),
)

# pi 0.58 and oh-my-pi.
PI_RESULTS = ResultWording(
    marks_failures=True,
    code_last=r"Command exited with code (\d{1,10})\s*\Z",
    starts=(
        Ending(
            "interrupted",
            (
                r"Operation aborted",
                r"Skipped due to queued user message",
                r"No result provided",
            ),
        ),
        Ending(
            "denied",
            (
                r"Blocked by user",
                r"Tool execution was blocked",
                r"Plan mode: command blocked",
                r"Dangerous command blocked",
            ),
        ),
    ),
    despite_success=(Ending("unknown", (r"Started \d+ background task",)),),
    ends=(
        Ending("timed out", (r"Command timed out after \d+ seconds\s*\Z",)),
        Ending("interrupted", (r"Command aborted\s*\Z",)),
    ),
)

# VS Code Copilot Chat 0.42.
VSCODE_CHAT_RESULTS = ResultWording(
    starts=(
        Ending("ok", (r"There was an error applying your original patch, and it was corrected",)),
        # Which of the files is not said.
        Ending(
            "unknown",
            (
                (
                    r"The following files were successfully edited:[\s\S]{0,900}?"
                    r"\nString replacement failed: "
                ),
            ),
        ),
        Ending(
            "denied",
            (
                r"The user cancelled the tool call\.",
                r"The user chose to skip the tool call",
            ),
        ),
        Ending("timed out", (r"Note: Command timed out after ",)),
        Ending(
            "failed",
            (
                r"ERROR while calling tool: ",
                r"Applying patch failed with error: ",
                r"String replacement failed: ",
                r"Tool \S+ is currently disabled by the user",
            ),
        ),
    ),
    despite_success=(
        Ending(
            "unknown",
            (
                (
                    r"(?:Note: [^\n]*\s)?[Cc]ommand is (?:now )?running in terminal "
                    r"with ID=(?P<terminal>[\w-]+)"
                ),
                (
                    r"Note: This terminal execution was moved to the background "
                    r"using the ID (?P<moved>[\w-]+)"
                ),
            ),
        ),
    ),
)

# Cline 3 and Roo Code 3: what the call returns stands in the text of a user's message.
CLINE_RESULTS = ResultWording(
    code_first=(
        r"(?:\{\"status\":\s*\"approved\"[^\n]{0,600}\}\s*)?Command executed in [^\n]{0,400}?"
        r"(?:Exit code: |was not successful[^\n]{0,100}\nExit code: )(-?\d{1,10})"
    ),
    starts=(
        Ending(
            "denied",
            (
                r"The user denied this operation",
                r'\{"status":\s*"denied"',
                r"(?:Changes were|Delete operation was) rejected by the user",
                r"User declined to update the todo",
                r"Command execution blocked by ",
                r"Access to [^\n]{1,300} is blocked by the \.clineignore ",
                r'(?:\{"error":\s*")?Tool \\?"[^"\n]{1,60}" was not approved',
            ),
        ),
        Ending(
            "timed out",
            (
                r"The command was terminated after exceeding ",
                r"Command execution timed out after ",
            ),
        ),
        Ending(
            "interrupted",
            (
                r"(?:Task|Tool execution) was interrupted before ",
                r"This tool was not executed because ",
                r"Skipping tool \[",
                r"Tool \[\w+\] was (?:interrupted|not executed)",
            ),
        ),
        Ending(
            "failed",
            (
                r"The tool execution failed",
                r'\{"status":\s*"error"',
                r"Unable to apply diff to file",
                r"<error_details>",
                r"<error>",
                r"Command executed in [^\n]{0,400}?Process terminated by signal",
                r"Missing value for required parameter",
            ),
        ),
    ),
    despite_success=(
        Ending(
            "unknown",
            (
                r"Command is still running in ",
                r"Command executed in [^\n]{0,400}?Exit code: <undefined",
                r"\[\{[\s\S]{0,900}?\[Command is still running",
            ),
        ),
    ),
)

# agent-code of 2026; leaving its plan mode needs no approval.
AGENT_CODE_RESULTS = ResultWording(
    marks_failures=True,
    code_last=r"Exit code: (\d+)\s*\Z",
    starts=(
        Ending("denied", (r"Permission denied(?: by user|: )",)),
        Ending("interrupted", (r"\(tool execution was interrupted\)",)),
    ),
    despite_success=(
        Ending(
            "unknown",
            (r"Command running in background \(task (?P<task>\w+)\)",),
        ),
        Ending("unknown", (r"Exited plan mode\.",), "plan"),
    ),
)
