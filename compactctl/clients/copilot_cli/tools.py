"""How Copilot CLI says in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# Copilot CLI 1.0.
RESULTS = ResultWording(
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
