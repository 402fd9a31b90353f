"""How OpenCode says in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# OpenCode 1.2, and texts of 0.x.
RESULTS = ResultWording(
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
