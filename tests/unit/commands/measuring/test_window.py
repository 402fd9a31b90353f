"""Which window a transcript is measured against."""

import pytest

from compactctl.commands.measuring.measure import Window, largest_answered_request, window_of
from compactctl.model.message import Message, MessageId, ReportedUsage, Tags, TextPart
from compactctl.model.transcript import SessionInfo, Transcript
from compactctl.records import replace
from compactctl.tokens.models.lookup import resolve_model


def answered(
    *sizes: int,
    model: str | None = "claude-opus-4-6",
    window: int | None = None,
    name: str = "test",
) -> Transcript:
    """Return a transcript of that model whose answers followed requests of these sizes."""
    messages = tuple(
        Message(
            id=MessageId(str(line)),
            role="assistant",
            parts=(TextPart(text="done"),),
            line=line,
            model=model,
            usage=ReportedUsage(context=size, output=1),
        )
        for line, size in enumerate(sizes)
    )
    session = SessionInfo(model=model, window=window)
    return Transcript(
        format=name, n_lines=9, n_bytes=9, messages=messages, effective=messages, session=session
    )


def window(transcript: Transcript, *, named: str = "") -> Window:
    return window_of(
        transcript, resolve_model(named or transcript.session.model), named=bool(named)
    )


def test_of_two_possible_windows_the_smaller_is_assumed_and_said_to_be() -> None:
    found = window(answered(150_000))
    assert found.tokens == 200_000
    assert "assumed, could be 1,000,000" in found.source


def test_what_a_system_documents_takes_the_place_of_the_models_own_window() -> None:
    stated = Window(tokens=64_000, source="stated")
    transcript = answered(1, model="deepseek-chat")
    model = resolve_model("deepseek-chat")
    assert window_of(transcript, model, named=True, documented=stated) == stated
    assert window_of(transcript, model, documented=stated) == stated
    recorded = answered(1, model="deepseek-chat", window=9_000)
    assert window_of(recorded, model, documented=stated).tokens == 9_000
    assert (
        window_of(answered(70_000, model="deepseek-chat"), model, documented=stated).tokens > 70_000
    )


def test_a_window_that_is_known_is_not_called_assumed() -> None:
    assert window(answered(1, model="claude-sonnet-4-5")).source == (
        "claude-sonnet-4-5, model in the transcript"
    )
    assert window(answered(1, model="claude-opus-4-6[1m]")).tokens == 1_000_000
    assert "assumed" not in window(answered(1, model="claude-opus-4-6[1m]")).source


def test_a_larger_request_that_was_answered_corrects_it() -> None:
    found = window(answered(150_000, 412_300, 30_000))
    assert found.tokens == 1_000_000
    assert found.source == "a request of 412,300 tokens was answered, line 2"


def test_what_a_compaction_noted_of_a_larger_request_corrects_it_too() -> None:
    whole = answered(150_000, 412_300)
    assert largest_answered_request(whole, resolve_model(whole.session.model)) == 412_300
    [left, _] = whole.messages
    noted = replace(left, tags=Tags(largest_answered=412_300))
    found = window(replace(whole, messages=(noted,)))
    assert (found.tokens, found.source) == (
        1_000_000,
        "a request of 412,300 tokens was answered, line 1",
    )
    small = answered(150_000)
    assert largest_answered_request(small, resolve_model(small.session.model)) == 0


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("gpt-5.3-codex", 280_000, 400_000),
        ("gpt-5", 500_000, 1_047_576),
        ("claude-sonnet-4-5", 200_001, 1_000_000),
        ("claude-sonnet-4-5", 200_000, 200_000),
        ("mystery", 129_000, 1_000_000),
        ("mystery", 1_200_000, 1_200_000),
        ("kimi-k2", 1_010_000, 1_048_576),
    ],
)
def test_it_becomes_the_smallest_known_one_that_holds_the_request(
    model: str, size: int, tokens: int
) -> None:
    assert window(answered(size, model=model)).tokens == tokens


def test_a_recorded_window_is_corrected_as_well() -> None:
    recorded = answered(250_000, name="codex", model="gpt-5.4", window=258_400)
    assert window(recorded) == Window(
        tokens=258_400, source="recorded in the transcript", recorded=True, for_input=True
    )
    larger = answered(300_000, name="codex", model="gpt-5.4", window=258_400)
    found = window(larger)
    assert (found.tokens, found.recorded, found.for_input) == (400_000, False, False)


def test_what_another_model_answered_says_nothing() -> None:
    other = answered(500_000, model="claude-sonnet-5").messages
    mixed = answered(100_000)
    both = Transcript(
        format="test",
        n_lines=9,
        n_bytes=9,
        messages=(*other, *mixed.messages),
        effective=mixed.messages,
        session=SessionInfo(model=mixed.session.model),
    )
    assert window(both).tokens == 200_000


def test_a_model_that_is_asked_for_has_its_own_window() -> None:
    found = window(answered(500_000), named="gpt-4o")
    assert (found.tokens, found.source) == (128_000, "gpt-4o, --model")


def test_a_window_for_input_alone_is_known_to_be() -> None:
    assert window(answered(1, model="gpt-5.3-codex")).for_input
    assert not window(answered(1, model="gpt-5.3-codex-spark")).for_input
    assert not window(answered(1, model="gpt-5")).for_input


def test_an_unknown_model_says_so() -> None:
    assert window(answered(1, model="mystery")).source == "default for unknown models"
