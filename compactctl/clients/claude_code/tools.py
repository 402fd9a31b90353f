"""How Claude Code says in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# What stands before the state or the exit code in news of a process of Claude Code.
_TAGS = r"(?:<(?!exit_code)\w+>[^<]{0,200}</\w+>\s*){0,6}"

# Claude Code 1.0 to 2.1.
RESULTS = ResultWording(
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
