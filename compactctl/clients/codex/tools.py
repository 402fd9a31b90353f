"""How Codex says in a result how the call ended, as data."""

from compactctl.clients.records.outcomes import Ending, ResultWording

# Codex CLI 0.58 to 0.142; the JSON object around an output is of its older versions.
RESULTS = ResultWording(
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
