"""Rollouts of Codex CLI that its other sample does not show."""

from collections.abc import Iterator
from typing import Any

from samples.errands import errands
from samples.formats.codex import OVERHEAD, Rollout, message
from samples.formats.codex_texts import BASE_INSTRUCTIONS, SUMMARY
from samples.picture import HEIGHT, WIDTH, png_base64
from samples.stamps import compact, jsonl, opaque, tokens
from samples.story import Turn


class Life(Rollout):
    """A rollout and what happens to it from one turn to the next."""

    reasoning = 0

    def picture(self, words: str) -> None:
        """Write a prompt with a picture before it."""
        url = f"data:image/png;base64,{png_base64()}"
        prompt = message("user", words)
        prompt["content"].insert(0, {"type": "input_image", "image_url": url})
        self.item(prompt, words)
        self.context += WIDTH * HEIGHT // 750
        self.event("user_message", message=words, images=[url], local_images=[])

    def play(self, turns: list[Turn]) -> None:
        """Write turns; what was thought in one is sent until it ends."""
        for turn in turns:
            before = self.reasoning
            self.play_turn(turn)
            self.context -= self.reasoning - before

    def count(self, sent: int, output: int, reasoning: int) -> None:
        super().count(sent, output, reasoning)
        self.context += reasoning
        self.reasoning += reasoning

    def taken_back(self, turn: Turn) -> None:
        """Write a turn that is rolled back."""
        context = self.context
        self.play([turn])
        self.event("thread_rolled_back", num_turns=1)
        self.prompts.pop()
        self.context = context

    def compact_remotely(self) -> None:
        """Let the provider compact: what it wrote is encrypted."""
        sealed = {"type": "compaction", "encrypted_content": opaque(self.rng, 900)}
        history = [*self.prompts, sealed]
        self.put("compacted", {"message": "", "replacement_history": history, "window_id": 2})
        kept = sum(tokens(entry["content"][0]["text"]) + 4 for entry in self.prompts)
        self.context, self.cached = OVERHEAD + tokens(BASE_INSTRUCTIONS) + kept + 300, 0
        self.event("context_compacted")

    def resumed(self) -> None:
        """Write what a client writes that goes on with a session: its header again."""
        header = self.records[0]["payload"]
        self.put("session_meta", {**header, "cli_version": "0.142.0"})

    def sought(self) -> None:
        """Write calls that a rollout has in other shapes, the last one without its output."""
        action = {"type": "search", "query": "tide tables 2026"}
        self.item({"type": "web_search_call", "status": "completed", "action": action}, "")
        self.put("response_item", {"type": "ghost_snapshot", "ghost_commit": {"id": "0f" * 20}})
        name = self.ids.token("call_")
        called = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"top"}'}
        self.item({**called, "call_id": name}, called["arguments"])
        self.event("turn_aborted", turn_id=self.turn_id, reason="interrupted")


def compacted_twice() -> bytes:
    """Two compactions, the second by the provider, a resume, and a turn that is rolled back."""
    life = Life("codex compacted twice")
    turns = errands("codex compacted twice", 7, pictures=False)
    life.open()
    life.play(turns[:2])
    life.compact()
    life.resumed()
    life.play(turns[2:4])
    life.compact_remotely()
    life.taken_back(turns[4])
    life.picture("This is what the gauge shows.")
    life.play(turns[5:])
    life.sought()
    # The last line is whole, but the client was stopped before its newline.
    return jsonl(life.records[:-1]) + compact(life.records[-1]).encode()


def long() -> bytes:
    """A session that was never compacted, with every count of tokens reported."""
    life = Life("codex long")
    life.open()
    life.play(errands("codex long", 7, pictures=False))
    return jsonl(life.records)


def oldest() -> bytes:
    """Items without an envelope, as the client wrote them in the middle of 2025."""
    life = Life("codex oldest")
    life.play(errands("codex oldest", 4, pictures=False))
    header = {"id": life.ids.uuid(), "timestamp": "2025-07-01T10:00:00.000Z", "instructions": None}
    items = [r["payload"] for r in life.records if r["type"] == "response_item"]
    return jsonl([header, *_with_states(items), message("user", SUMMARY)])


def _with_states(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, item in enumerate(items):
        if number % 9 == 0:
            yield {"record_type": "state"}
        yield item


SESSIONS = {
    "compacted-twice.jsonl": compacted_twice,
    "long.jsonl": long,
    "oldest.jsonl": oldest,
}
