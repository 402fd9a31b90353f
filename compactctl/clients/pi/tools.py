"""How pi says in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# pi 0.58 and oh-my-pi.
RESULTS = ResultWording(
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
