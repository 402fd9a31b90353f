"""Gemini CLI, told without a screen."""

import json
from collections.abc import Iterator
from pathlib import Path

from clients.desk import Desk, Sent, newest
from clients.stub import Answer, Json

# Tokens that its models take.
_WINDOW = 1_048_576
_SETTINGS = {
    "security": {
        "auth": {"selectedType": "gemini-api-key"},
        "folderTrust": {"enabled": False},
    },
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}


class GeminiCli:
    """Gemini CLI, told without a screen."""

    name = "gemini-cli"
    program = "gemini"
    has_files = True
    lines = 150

    def read(self, path: Path) -> Answer:
        return Answer(tool="read_file", arguments={"file_path": str(path)})

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        folder = desk.home / ".gemini"
        folder.mkdir(exist_ok=True)
        share = limit / _WINDOW if limit else 1
        settings = {**_SETTINGS, "model": {"compressionThreshold": share}}
        (folder / "settings.json").write_text(json.dumps(settings))
        command = ["gemini", "-m", desk.asked or "gemini-2.5-pro", "-p", prompt]
        command += ["--resume", session] if session else []
        variables = {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": desk.model.url,
            "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        done = desk.run(command, variables)
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        return newest((desk.home / ".gemini" / "tmp").glob("*/chats/session-*.jsonl"))

    def id_of(self, session: str) -> str:
        path = Path(session)
        if not path.suffix:
            return session
        return str(json.loads(path.read_bytes().partition(b"\n")[0])["sessionId"])

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        for part in (part for content in request["contents"] for part in content["parts"]):
            if "functionCall" in part:
                call = part["functionCall"]
                yield "call", call.get("id", ""), call["name"]
            elif "functionResponse" in part:
                answer = part["functionResponse"]
                yield "result", answer.get("id", ""), answer["response"].get("output", "").strip()
            elif (text := part.get("text", "").strip()) and not text.startswith("<"):
                yield "text", "", text
