"""How VS Code Copilot Chat says in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# VS Code Copilot Chat 0.42.
RESULTS = ResultWording(
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
