"""What a request comes to when some of its messages are gone or shorter."""

import pytest
from builders import assistant, call, conversation, result, thinking, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.measuring.context_size import ContextSize, context_size
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.measuring.next_request import RequestModel, request_model
from compactctl.model.message import Message, ReportedUsage, ToolResultPart
from compactctl.model.transcript import Transcript
from compactctl.records import replace


def transcript(*messages: Message) -> Transcript:
    found = conversation(*messages)
    return Transcript(format="test", n_lines=0, n_bytes=0, messages=found, effective=found)


def measured(of: Transcript) -> Measurement:
    return measure(of, MeasureOptions(counter="chars/4"))


def asked(of: Transcript, size: ContextSize | None = None) -> RequestModel:
    found = measured(of)
    return request_model(size or context_size(of, found), of, found)


def answered(message: Message, response: str, context: int, output: int) -> Message:
    usage = ReportedUsage(context=context, output=output)
    return replace(message, response_id=response, usage=usage)


def cleared(message: Message) -> Message:
    (part,) = message.parts
    assert isinstance(part, ToolResultPart)
    return replace(message, parts=(replace(part, text="x"),))


THOUGHT = replace(
    assistant("done"), parts=(*thinking("", opaque=True).parts, *assistant("done").parts)
)
TALK = transcript(
    user("look"),
    answered(call("a", "Read"), "r1", 1_000, 50),
    result("a", "word" * 300),
    answered(THOUGHT, "r2", 1_500, 300),
    user("next"),
)


def test_a_request_with_everything_is_the_next_one() -> None:
    size = context_size(TALK, measured(TALK))
    assert asked(TALK).tokens(TALK.effective) == size.total
    assert asked(TALK).unseen(TALK.effective) == size.unseen


def test_what_entered_between_two_requests_goes_with_what_was_reported_of_it() -> None:
    request = asked(TALK)
    left = [m for m in TALK.effective if m is not TALK.effective[2]]
    saved = request.tokens(TALK.effective) - request.tokens(left)
    # 500 more than the request before, of which 50 are its answer.
    assert saved == pytest.approx(450, abs=12)


def test_thinking_that_is_kept_is_charged_and_goes_with_its_message() -> None:
    request = asked(TALK)
    shorter = [cleared(m) if m.role == "tool" else m for m in TALK.effective]
    assert request.tokens(TALK.effective) - request.tokens(shorter) < 450
    left = [m for m in TALK.effective if m is not TALK.effective[3]]
    assert request.tokens(TALK.effective) - request.tokens(left) == pytest.approx(300, abs=12)


def test_what_a_client_restores_is_in_every_request() -> None:
    messages = TALK.effective
    counted = measured(TALK).meter.total(messages)
    request = asked(TALK, ContextSize(counted=counted, overhead=200, restored=50))
    assert request.fixed == request.tokens(()) == 250
    assert request.room(messages, 250) == 0


def test_several_conversations_share_nothing_unseen() -> None:
    found = transcript(user("four" * 10), replace(user("more"), conversation=1))
    request = asked(found)
    assert request.tokens(found.effective[:1]) == 10
    assert request.room(found.effective[:1], 7) == 7


@given(
    overhead=st.integers(0, 2_000),
    hidden=st.integers(0, 2_000),
    unexplained=st.integers(-100, 2_000),
    limit=st.integers(1, 5_000),
    length=st.integers(0, 5),
)
def test_there_is_room_for_messages_just_where_they_fit(
    overhead: int, hidden: int, unexplained: int, limit: int, length: int
) -> None:
    counted = measured(TALK).meter.total(TALK.effective)
    size = ContextSize(
        counted=counted, overhead=overhead, hidden_reasoning=hidden, unexplained=unexplained
    )
    request, left = asked(TALK, size), TALK.effective[:length]
    fits = request.tokens(left) <= limit
    assert (measured(TALK).meter.total(left) <= request.room(left, limit)) == fits
