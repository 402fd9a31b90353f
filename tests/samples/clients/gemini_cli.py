"""Sessions of Gemini CLI that its other sample does not show."""

import json
from typing import Any

from samples.errands import errands
from samples.formats.gemini_cli import OVERHEAD, Log
from samples.picture import HEIGHT, WIDTH, png_base64
from samples.stamps import jsonl, tokens
from samples.story import Step, Turn
from samples.workbench import ROOT

_SNAPSHOT = """<state_snapshot>
    <overall_goal>Correct the models of the harbour, one after the other.</overall_goal>
    <key_knowledge>Never touch migrations/. Tests run with pytest.</key_knowledge>
    <recent_actions>The comments beside the fields say what may not be empty.</recent_actions>
</state_snapshot>"""
# Tokens that Gemini counts for each of o200k.
_RATIO = 1.16
_MASKED = "<tool_output_masked>\n[Output of {length:,} characters was masked]\n"


class Life(Log):
    """A session and what happens to it from one turn to the next."""

    thoughts = 0

    @staticmethod
    def count(text: str) -> int:
        return round(tokens(text) * _RATIO)

    def play_turn(self, turn: Turn) -> None:
        """Write one turn; what was thought in it is sent until it ends."""
        before = self.thoughts
        super().play_turn(turn)
        self.context -= self.thoughts - before

    def respond(self, step: Step) -> None:
        super().respond(step)
        thoughts = self.messages[-1]["tokens"]["thoughts"]
        self.context += thoughts
        self.thoughts += thoughts

    def picture(self, words: str) -> None:
        """Write a prompt with a picture behind it."""
        message = self.typed(words)
        inline = {"mimeType": "image/png", "data": png_base64()}
        message["content"].append({"inlineData": inline})
        self.context += WIDTH * HEIGHT // 750
        self.put(message)

    def told(self, kind: str, text: str) -> None:
        """Write a message that is for the screen alone."""
        self.put(self.message(kind, text))

    def compress(self) -> None:
        """Let the client put a summary in the place of all but the newest messages."""
        kept = self.messages[-4:]
        summary = self.message("user", [{"text": _SNAPSHOT}])
        understood = self.message("gemini", "Got it. Thanks for the additional context!")
        self.context = OVERHEAD + self.count(_SNAPSHOT) + 14
        self.context += sum(self.count(_said(message)) + 6 for message in kept)
        self.set_messages([summary, understood, *kept])

    def mask(self) -> None:
        """Let the client mask what older calls printed."""
        masked = json.loads(json.dumps(self.messages))
        for message in masked[:-2]:
            for call in message.get("toolCalls", []):
                response = call["result"][0]["functionResponse"]["response"]
                text = response.get("output", "")
                if len(text) > 200:
                    response["output"] = _MASKED.format(length=len(text))
                    self.context -= self.count(text) - self.count(response["output"])
        self.set_messages(masked)

    def take_back(self, words: str) -> None:
        """Write a prompt, and that it was taken back."""
        size, prompt = self.context, self.typed(words)
        self.put(prompt)
        self.records.append({"$rewindTo": prompt["id"]})
        self.messages.pop()
        self.context = size

    def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Write all messages anew."""
        self.messages = messages
        self.records.append({"$set": {"messages": [dict(each) for each in messages]}})


def _said(message: dict[str, Any]) -> str:
    printed = [call["result"] for call in message.get("toolCalls", [])]
    return json.dumps([message["content"], printed])


def compressed() -> bytes:
    """A log with masked outputs, two compressions, and prompts that were taken back."""
    life = Life("gemini-cli compressed")
    turns = errands("gemini-cli compressed", 6, pictures=False)
    life.open()
    for turn in turns[:2]:
        life.play_turn(turn)
    life.mask()
    life.take_back("Leave it.")
    life.play_turn(turns[2])
    life.compress()
    life.play_turn(turns[3])
    life.told("error", "[API Error: got status: 503]")
    life.compress()
    life.picture("This is what the gauge shows.")
    life.play_turn(turns[4])
    life.take_back("Now the tides.")
    life.play_turn(turns[5])
    return jsonl(life.records)


def document() -> bytes:
    """A session as older clients write it: one document with everything in its newest state."""
    life = Life("gemini-cli document")
    life.open()
    for turn in errands("gemini-cli document", 6, pictures=False):
        life.play_turn(turn)
    life.told("info", "Auto-update is disabled.")
    header = {**life.records[0], "messages": life.messages, "directories": [ROOT]}
    return json.dumps(header, indent=2, ensure_ascii=False).encode()


SESSIONS = {"compressed.jsonl": compressed, "document.json": document}
