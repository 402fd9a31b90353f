"""A summary must point to what it replaces: refusals and empty phrases never do."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

# ruff: noqa: RUF001 - letters of other alphabets are meant
import pytest
from conftest import ROOT
from file_commands import load_file
from real.choice import each_file

from compactctl.model.message import Message, TextPart
from compactctl.summaries.by_model.relevance import distinctive_words, is_about, is_refusal
from compactctl.summaries.by_model.unsupported_claims import source_texts

SAMPLES = ROOT / "sample_transcripts"
REFUSALS = (
    "I'm sorry, but I can't help with that request.",
    "I\u2019m sorry, I can\u2019t assist with that.",
    "I cannot provide a summary of this conversation.",
    "Sorry, I am unable to comply, since it violates our content policy.",
    "I apologize, but I won't be able to fulfill your request.",
    "As an AI language model, I do not have the ability to do this.",
    "Unfortunately I am not allowed to discuss this topic. Is there anything else?",
    "I must decline to summarize the conversation you provided.",
    "Lo siento, pero no puedo ayudar con esa solicitud.",
    "Je suis désolé, mais je ne peux pas répondre à cette demande.",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Desculpe, mas não posso ajudar com isso.",
    "Mi dispiace, ma non posso aiutarti con questa richiesta.",
    "Sorry, maar daar kan ik niet mee helpen.",
    "Извините, я не могу помочь с этим запросом.",
    "抱歉，我无法协助满足您的请求。",
    "申し訳ありませんが、そのリクエストにはお応えできません。",
    "죄송하지만 그 요청은 도와드릴 수 없습니다.",
)
EMPTY = (
    "ok.",
    "All done.",
    "N/A",
    "# Summary\n\nNothing to report.",
    "Here is the summary you asked for:",
    "The conversation was summarized successfully. Let me know if you need anything else!",
    "The user asked for several things, and each of them was done.",
    "Error: 429 Too Many Requests",
    "Internal server error",
    "Invalid API key. Please check your credentials.",
)
NOTHING = "\n".join((*REFUSALS, *EMPTY))
TRUE = {
    "anthropic-messages": "The user asked why the notice board shows old notices.",
    "claude-code-session": "The user asked about a ship that touched the sill.",
    "codex-session": "The user wants a monthly statement for agencies.",
    "damaged": "The letter was cut in the middle.",
    "gemini-cli-session": "Notices got a filter.",
    "neurolink": "Nobody is planned at N4; there are divers.",
    "openai-chat": "HOLVENNESS got a berth.",
    "openai-chat-conversations": "A yacht seeks shelter.",
}


@cache
def source(path: Path) -> str:
    return "\n".join(source_texts(load_file(path).transcript.effective))


@pytest.mark.parametrize("name", TRUE)
def test_no_refusal_is_about_a_sample_and_a_true_sentence_is(name: str) -> None:
    path = SAMPLES / f"{name}.jsonl"
    assert not is_about(NOTHING, source(path))
    assert is_about(TRUE[name], source(path))


def test_every_sample_has_a_true_sentence() -> None:
    assert {path.stem for path in SAMPLES.glob("*.jsonl")} == set(TRUE)


@each_file
def test_no_refusal_is_about_a_real_session_and_its_requests_are(path: Path) -> None:
    whole = source(path)
    if not any(distinctive_words(whole)):
        pytest.skip("it says nothing")
    assert not is_about(NOTHING, whole)
    for request in islice(requests(load_file(path).transcript.effective), 3):
        assert is_about(f"The user asked for this: {request}", whole)


def requests(messages: tuple[Message, ...]) -> Iterator[str]:
    texts = (part for m in messages if m.starts_turn for part in m.parts)
    for part in texts:
        if isinstance(part, TextPart) and any(distinctive_words(part.text)):
            yield part.text


@pytest.mark.parametrize(
    ("text", "source_text"),
    [
        ("the user asked about Java and got answers", "What is Java?\nJava is a language."),
        ("load_port is done", "def load_port(): ..."),
        ("see config.yaml", "cat deploy/config.yaml"),
        ("it took 4711 ms", "done after 4711 ms"),
        ("用户询问了数据库的索引", "数据库为什么慢？"),
        ("データベースの話", "データベースが遅い"),
        ("anything", "hi. ok? yes! " * 40),
    ],
)
def test_one_word_in_common_is_enough(text: str, source_text: str) -> None:
    assert is_about(text, source_text)


@pytest.mark.parametrize("text", REFUSALS[:4])
def test_a_refusal_that_names_its_subject_is_still_one(text: str) -> None:
    assert is_refusal(f"{text} The file src/serve/config.py stays as it is.")


@pytest.mark.parametrize(
    "text",
    [
        "The user said: I can't help with the port, ask Kim.",
        "I could not find the port in config.py, so the user will look.",
        "Sorry states of the port were fixed; users can't share it now.",
        f"{REFUSALS[0]} {'The port is read in config.py. ' * 12}",
    ],
)
def test_what_tells_of_inability_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)
