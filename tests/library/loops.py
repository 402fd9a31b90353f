"""What an agent's loop holds after some rounds, in the shape of OpenAI's chat API."""

import json
from typing import Any


def loop(rounds: int, files: int = 7) -> list[dict[str, Any]]:
    """Return a prompt and so many calls with results, which read so many files in turn."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You mend builds."},
        {"role": "user", "content": "Find out why the build fails. Never touch the tests."},
    ]
    for number in range(rounds):
        arguments = json.dumps({"path": f"src/part_{number % files}.c"})
        function = {"name": "read_file", "arguments": arguments}
        call = {"id": f"call-{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        text = "\n".join(
            f"int part_{number % files}_step_{step}(int x) {{ return x * {step}; }}"
            for step in range(12)
        )
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return messages
