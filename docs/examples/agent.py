"""A coding agent in one file: it reads and lists files until the model has its answer.

    OPENAI_API_KEY=… python agent.py "Where is the default port set?"

OPENAI_BASE_URL names another server, MODEL another model.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import openai

from compactctl import Compactor

PATH = {"type": "string", "description": "relative to the current folder"}
PARAMETERS = {"type": "object", "properties": {"path": PATH}, "required": ["path"]}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": about, "parameters": PARAMETERS}}
    for name, about in (("read_file", "Read a text file."), ("list_folder", "List a folder."))
]


def run_tool(call: dict[str, Any]) -> dict[str, Any]:
    """Do what the model asks for, and return the message that answers it."""
    path = Path(json.loads(call["function"]["arguments"]).get("path", "."))
    try:
        is_read = call["function"]["name"] == "read_file"
        text = path.read_text() if is_read else "\n".join(sorted(p.name for p in path.iterdir()))
    except (OSError, UnicodeDecodeError) as error:
        text = f"error: {error}"
    return {"role": "tool", "tool_call_id": call["id"], "content": text or "(empty)"}


def main(question: str, model: str = os.environ.get("MODEL", "gpt-4.1")) -> str:
    """Ask until the model answers; the archive then restores all that was cut."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    compactor = Compactor(model=model, tools=TOOLS, archive=f"agent-{os.getpid()}.jsonl")
    ask = partial(openai.OpenAI().chat.completions.create, model=model, tools=TOOLS)
    while True:
        try:
            reply = ask(messages=compactor.fit(messages))
        except openai.BadRequestError as error:
            reply = ask(messages=compactor.recover(error))
        compactor.after(reply.usage)
        answer = reply.choices[0].message.model_dump(exclude_none=True)
        messages.append(answer)
        if not answer.get("tool_calls"):
            return str(answer["content"])
        messages += map(run_tool, answer["tool_calls"])


if __name__ == "__main__":
    print(main(sys.argv[1]))
