"""How Gemini CLI says in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# Gemini CLI 0.1 to 0.56.
RESULTS = ResultWording(
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
