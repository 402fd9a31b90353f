"""Messages of OpenAI's API as other servers store them: Ollama, Mistral, and spoken answers."""

import base64
import struct

from formats.jsonl import detected, read
from formats.openai_talk import say

from compactctl.model.message import MediaPart, Message, ReasoningPart, TextPart, is_replaceable

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 600, 400)).decode()
LOOK = [
    say("user", "What is on it?", images=[PNG, PNG]),
    say(
        "assistant",
        "",
        thinking="It looks like a quay.",
        tool_calls=[{"function": {"name": "read_log", "arguments": {"day": 3}}}],
    ),
    {"role": "tool", "tool_name": "read_log", "content": "The tide fell."},
    say("assistant", "A quay at low tide."),
]


def messages(*records: object) -> tuple[Message, ...]:
    assert detected(*records) == "openai-chat"
    found = read("openai-chat", *records)
    assert found.unread.n_bytes == 0
    return found.effective


def test_ollama_keeps_pictures_beside_the_content() -> None:
    asked, *_ = messages(*LOOK)
    text, *pictures = asked.parts
    assert isinstance(text, TextPart)
    assert [(each.width, each.height) for each in pictures if isinstance(each, MediaPart)] == [
        (600, 400)
    ] * 2
    assert not any(map(is_replaceable, pictures))


def test_ollama_keeps_thinking_beside_the_content_and_names_the_tool() -> None:
    _, called, answered, _ = messages(*LOOK)
    assert isinstance(called.parts[0], ReasoningPart)
    assert called.parts[0].text == "It looks like a quay."
    assert [(each.tool, each.call_id) for each in answered.results] == [
        ("read_log", called.calls[0].call_id)
    ]


def test_mistral_keeps_thinking_as_a_list_of_texts() -> None:
    texts = [{"type": "text", "text": each} for each in ("First the tide.", "Then the quay.")]
    answer = [{"type": "thinking", "thinking": texts}, {"type": "text", "text": "At noon."}]
    _, said = messages(say("user", "When?"), say("assistant", answer))
    thought, text = said.parts
    assert isinstance(thought, ReasoningPart)
    assert (thought.text, thought.opaque) == ("First the tide.\nThen the quay.", False)
    assert isinstance(text, TextPart)


def test_a_spoken_answer_is_sent_by_its_id_and_stays() -> None:
    audio = {"id": "audio_1", "expires_at": 1, "transcript": "The quay is dry until the evening."}
    _, said = messages(say("user", "When?"), say("assistant", None, audio=audio))
    [spoken] = said.parts
    assert isinstance(spoken, TextPart)
    assert spoken.text == audio["transcript"]
    assert not is_replaceable(spoken)
