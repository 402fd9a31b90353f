"""What a request costs beyond the text of its messages, by model family.

Coefficients and constants are robust regressions of the tokens that providers reported between
one call and the next on o200k counts of what was added: 1,518 calls to Claude up to 4.6, 930 to
Claude 4.7 and later, 998 to OpenAI models.
"""

from dataclasses import dataclass

from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.tokens.meter import Meter
from compactctl.tokens.models import ModelInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """How many reported tokens an o200k token of each kind is, and constants in tokens.

    ``per_result`` is added for each tool result (the frame of call and result), ``per_injected``
    for each record that the client injected, ``per_text`` for each message of prose.
    """

    result: float
    call: float
    said: float
    user: float
    injected: float
    per_result: int
    per_injected: int
    per_text: int


CLAUDE_UP_TO_4_6 = Framing(
    result=1.12,
    call=1.04,
    said=1.06,
    user=1.10,
    injected=1.05,
    per_result=80,
    per_injected=79,
    per_text=0,
)
CLAUDE_FROM_4_7 = Framing(
    result=1.57,
    call=1.56,
    said=1.28,
    user=1.64,
    injected=1.53,
    per_result=44,
    per_injected=85,
    per_text=0,
)
OPENAI = Framing(
    result=1.0,
    call=1.0,
    said=1.0,
    user=1.0,
    injected=1.0,
    per_result=21,
    per_injected=15,
    per_text=15,
)


def framing_for(model: ModelInfo) -> Framing:
    """Return the framing of a model's family; other families are framed like OpenAI's."""
    if not model.family.startswith("Claude"):
        return OPENAI
    return CLAUDE_UP_TO_4_6 if model.family.endswith("up to 4.6") else CLAUDE_FROM_4_7


def framed_tokens(message: Message, meter: Meter, framing: Framing, unit: float) -> float:
    """Estimate what a message adds to a request, in reported tokens.

    ``unit`` is how many of the meter's tokens one o200k token is.
    """
    tokens = sum(_part_tokens(part, message, meter, framing, unit) for part in message.parts)
    if message.injected and message.role == "user":
        return tokens + framing.per_injected
    if any(isinstance(part, TextPart) for part in message.parts):
        return tokens + framing.per_text
    return tokens


def _part_tokens(
    part: Part, message: Message, meter: Meter, framing: Framing, unit: float
) -> float:
    tokens = meter.part(part) / unit
    match part:
        case ToolResultPart():
            return tokens * framing.result + framing.per_result
        case ToolCallPart():
            return tokens * framing.call
        case MediaPart():
            return tokens * unit
        case FilePart() | ToolDefinitionPart():
            return tokens * framing.injected
        case _:
            return tokens * _prose(message, framing)


def _prose(message: Message, framing: Framing) -> float:
    if message.role == "assistant":
        return framing.said
    return framing.injected if message.injected else framing.user
