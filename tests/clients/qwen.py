"""Qwen Code, told without a screen."""

import json
from collections.abc import Iterator
from pathlib import Path

from clients.completions import completions
from clients.desk import Desk, Sent, bare, newest
from clients.stub import Answer, Json

# What it keeps free beside its summary and for it.
_RESERVE = 33_000
_SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
    "tools": {"useRipgrep": False},
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
}


class QwenCode:
    """Qwen Code, told without a screen."""

    name = "qwen-code"
    program = "qwen"
    has_files = True
    lines = 150

    def read(self, path: Path) -> Answer:
        return Answer(tool="read_file", arguments={"file_path": str(path)})

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        folder = desk.home / ".qwen"
        folder.mkdir(exist_ok=True)
        window = limit + _RESERVE if limit else 2_000_000
        model = {"name": desk.asked or "stub", "generationConfig": {"contextWindowSize": window}}
        (folder / "settings.json").write_text(json.dumps({**_SETTINGS, "model": model}))
        command = [self.program, "--yolo", "-p", prompt]
        command += ["--resume", session] if session else []
        variables = {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{desk.model.url}/v1",
            "OPENAI_MODEL": desk.asked or "stub",
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        }
        done = desk.run(command, variables)
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        return newest((desk.home / ".qwen" / "projects").glob("*/chats/*.jsonl"))

    def id_of(self, session: str) -> str:
        return Path(session).stem

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        # Prompts in a row are sent as one, each in a block of its own.
        for message in request["messages"]:
            blocks = message.get("content")
            if message["role"] == "user" and isinstance(blocks, list):
                said = (bare(block["text"]) for block in blocks if block["type"] == "text")
                yield from (("text", "", text) for text in said if text)
            else:
                yield from completions({"messages": [message]})
