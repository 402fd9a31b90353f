"""How Cline and Roo Code say in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# Cline 3 and Roo Code 3: what the call returns stands in the text of a user's message.
RESULTS = ResultWording(
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
