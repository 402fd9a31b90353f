"""Records of a task of Cline, one call each."""

from typing import Any

from compactctl.model.message import Message

FOLDER = "# Current Working Directory (/work/app) Files\na.py"
ENVIRONMENT = f"<environment_details>\n# Visible Files\na.py\n\n{FOLDER}\n</environment_details>"
NOT_RUN = "Tool [read_file] was not executed because a tool has already been used."
TASK = "<task>\nFix the parser.\n</task>"


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*content: str | dict[str, Any], **more: object) -> dict[str, Any]:
    blocks = [text(item) if isinstance(item, str) else item for item in content]
    return {"role": "user", "content": blocks, **more}


def assistant(*content: str | dict[str, Any], **more: object) -> dict[str, Any]:
    return {**user(*content), "role": "assistant", "ts": 1_769_064_454_592, **more}


def call(name: str, call_id: str = "toolu_1", **arguments: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: object, **more: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def results(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(part.tool, part.text) for message in messages for part in message.results]


def task(turns: int = 6) -> list[dict[str, Any]]:
    """Return a task in which every turn reads the same file and runs a command."""
    body = "\n".join(f"line {number} of the file" for number in range(60))
    records = [user(TASK, ENVIRONMENT)]
    for turn in range(turns):
        output = f"run {turn}: " + "all is well with this step; " * 40
        first, second = call("read_file", f"r{turn}", path="a.py"), call("read_file", "x", path="b")
        records += [
            assistant("Reading.", first, second),
            user(f"[read_file for 'a.py'] Result:\n{body}", NOT_RUN, ENVIRONMENT),
            assistant("Running.", call("execute_command", f"b{turn}", command=f"make {turn}")),
            user(f"[execute_command for 'make {turn}'] Result:\n{output}", ENVIRONMENT),
            assistant(call("attempt_completion", f"d{turn}", result=f"Fixed part {turn}.")),
            user(
                "[attempt_completion] Result:",
                f"<feedback>\nNow fix part {turn + 1}, please.\n</feedback>",
                ENVIRONMENT,
            ),
        ]
    return records
