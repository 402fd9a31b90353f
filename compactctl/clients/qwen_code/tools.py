"""How Qwen Code says in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# Qwen Code 0.24.
RESULTS = ResultWording(
    code_last=(
        r"(?m)^Exit Code: (-?\d{1,10})\nSignal: [^\n]*\n"
        r"Process Group PGID: [^\n]*(?:\n\n[\s\S]*)?\Z"
    ),
    starts=(
        Ending(
            "denied",
            (
                r"\[Operation Cancelled\] Reason: User did not allow ",
                r"User declined to answer the questions\.",
            ),
        ),
        Ending("interrupted", (r"\[Operation Cancelled\]",)),
    ),
    despite_success=(
        Ending("timed out", (r"Command timed out after \d+ms before it could complete\.",)),
        Ending("interrupted", (r"Command was cancelled by user before it could ",)),
        Ending("unknown", (r"Background shell started\.\nid: (?P<started>\S+)",)),
    ),
    ends=(
        Ending(
            "failed",
            (r"(?m)^Signal: (?!\(none\))\S+\nProcess Group PGID: [^\n]*(?:\n\n[\s\S]*)?\Z",),
        ),
    ),
)
