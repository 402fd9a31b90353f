"""What a request costs beyond the text of its messages, by model family.

Coefficients and constants are robust regressions of the tokens that providers reported between
one call and the next on counts of what was added: 1,518 calls to Claude up to 4.6, 930 to Claude
4.7 and later, 998 to OpenAI models. What a tool result adds was fitted again where the answer
before it was reported (42, 774 and 713 calls), what it and its call add where it was not (700);
fits that leave a session out differ by 7 % at most in ratios, by 7 tokens in constants. With
OpenAI a prompt takes 6 tokens, another message between prompts 4: exactly that in 13 of 17 turns
that began with nothing else, in four sessions of Codex (``REASONING_FRAME`` is what ended then);
prose before a call 7, a call 11, in 424 of 531 answers of these; a result 9 and the tool's name, 11
in 379 of 660.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.media import media_tokens
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import ModelInfo
from compactctl.tokens.units import unit_of

_NUMBERED = re.compile(r" *\d+[→\t]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """How many reported tokens a counted token of each kind is, and constants in tokens.

    ``numbered`` is for tool results with line numbers, which other vocabularies count alike, and
    ``result`` for all others. ``per_call`` is added for each tool call, ``per_result`` for each
    tool result, ``per_injected`` for each record that the client injected, ``per_prompt`` for each
    message of a person's text, ``per_text`` for all other text. ``per_sealed`` is how many tokens
    of thinking a character of its signature stands for where clients store a summary of it or
    nothing, ``seal`` how many of these are the signature's own: .24 for Claude 4.7 and later, in
    eight of ten answers between .21 and .28. For OpenAI it is what Codex estimates for
    encrypted reasoning (openai/codex, history.rs, estimate_reasoning_length): base64 of bytes, 650
    of them an envelope, four to a token. Over the 38 pieces of the one session at hand whose
    encrypted reasoning was not taken out that is 1.18 times what was reported.
    """

    result: float
    numbered: float
    call: float
    said: float
    user: float
    injected: float
    per_call: int
    per_result: int
    per_injected: int
    per_prompt: int
    per_text: int
    per_sealed: float = 0.0
    seal: float = 0.0

    def times(self, factor: float) -> "Framing":
        """Return the framing for a counter that counts so many times fewer tokens."""
        return replace(
            self,
            result=self.result * factor,
            numbered=self.numbered * factor,
            call=self.call * factor,
            said=self.said * factor,
            user=self.user * factor,
            injected=self.injected * factor,
        )


# For o200k_base counts.
CLAUDE_UP_TO_4_6 = Framing(
    result=1.21,
    numbered=1.10,
    call=1.02,
    said=1.16,
    user=1.10,
    injected=1.05,
    per_call=75,
    per_result=27,
    per_injected=79,
    per_prompt=0,
    per_text=0,
)
CLAUDE_FROM_4_7 = Framing(
    result=1.53,
    numbered=1.52,
    call=1.56,
    said=1.28,
    user=1.64,
    injected=1.53,
    per_call=34,
    per_result=10,
    per_injected=85,
    per_prompt=0,
    per_text=0,
    per_sealed=0.24,
)
OPENAI = Framing(
    result=1.0,
    numbered=1.0,
    call=1.0,
    said=1.0,
    user=1.0,
    injected=1.0,
    per_call=11,
    per_result=11,
    per_injected=4,
    per_prompt=6,
    per_text=7,
    per_sealed=3 / 4 / 4,
    seal=650 / 4,
)


# For counts with the reconstructed vocabulary of the model, by its name: what is left are the
# escapes of arguments, which are sent as JSON values, and the frames.
_RECONSTRUCTED: Mapping[str, Framing] = MappingProxyType(
    {
        "claude-3": Framing(
            result=1.0,
            numbered=1.0,
            call=0.82,
            said=1.03,
            user=0.96,
            injected=0.97,
            per_call=80,
            per_result=27,
            per_injected=80,
            per_prompt=0,
            per_text=0,
        ),
        "claude-4.7": Framing(
            result=1.0,
            numbered=1.0,
            call=0.98,
            said=0.87,
            user=1.03,
            injected=0.99,
            per_call=36,
            per_result=10,
            per_injected=87,
            per_prompt=0,
            per_text=0,
            per_sealed=0.24,
        ),
    }
)


def framing_for(model: ModelInfo, counter: TokenCounter) -> Framing:
    """Return the framing of a model's requests for what ``counter`` counts.

    Families other than Claude are framed like OpenAI's.
    """
    if counter.id == model.reconstruction:
        return _RECONSTRUCTED[counter.id]
    return _of_family(model).times(1 / unit_of(counter, model))


def _of_family(model: ModelInfo) -> Framing:
    """Return the framing for o200k_base counts."""
    if not model.family.startswith("Claude"):
        framing = OPENAI.times(model.factor)
        sealed = model.family.startswith("OpenAI")
        return framing if sealed else replace(framing, per_sealed=0.0, seal=0.0)
    return CLAUDE_UP_TO_4_6 if model.family.endswith("up to 4.6") else CLAUDE_FROM_4_7


class FramedMeter:
    """Estimates what messages add to a request, in reported tokens, and remembers it.

    Memory grows with the messages estimated; results never change.
    """

    def __init__(self, meter: Meter, framing: Framing) -> None:
        self.framing = framing
        self._meter = meter
        # By identity, as in the meter, which keeps the messages. Few have sealed reasoning.
        self._visible: dict[int, float] = {}
        self._sealed: dict[int, float] = {}

    def whole(self, message: Message) -> float:
        """Estimate all that a message adds."""
        return self.visible(message) + self._sealed.get(id(message), 0.0)

    def visible(self, message: Message) -> float:
        """Estimate what a message adds without thinking whose text is not stored."""
        known = self._visible.get(id(message))
        return self._estimate(message) if known is None else known

    def _estimate(self, message: Message) -> float:
        self._meter.message(message)
        visible = _visible_tokens(message, self._meter, self.framing)
        self._visible[id(message)] = visible
        sealed = _sealed_tokens(message, self._meter, self.framing)
        if sealed:
            self._sealed[id(message)] = sealed
        return visible


def _visible_tokens(message: Message, meter: Meter, framing: Framing) -> float:
    tokens = sum([_part_tokens(part, message, meter, framing) for part in message.parts])
    return tokens + frame_tokens(message, framing)


def frame_tokens(message: Message, framing: Framing) -> int:
    """Return what a message adds to a request beside what is counted of it."""
    answers = len(message.results) + sum([bool(call.added) for call in message.calls])
    tokens = framing.per_call * len(message.calls) + framing.per_result * answers
    if message.injected and message.role == "user":
        return tokens + framing.per_injected
    if any(isinstance(part, TextPart) for part in message.parts):
        return tokens + (framing.per_prompt if message.role == "user" else framing.per_text)
    return tokens


def _sealed_tokens(message: Message, meter: Meter, framing: Framing) -> float:
    """Estimate by its signatures what of a message's thinking is not stored as text.

    What is stored beside them is a summary of the same.
    """
    thought = [part for part in message.parts if isinstance(part, ReasoningPart)]
    sealed = [part.sealed * framing.per_sealed - framing.seal for part in thought if part.sealed]
    if not framing.per_sealed or not sealed:
        return 0.0
    told = sum([meter.part(part) for part in thought]) * framing.said
    return max(0.0, sum([max(0.0, tokens) for tokens in sealed]) - told)


def _part_tokens(part: Part, message: Message, meter: Meter, framing: Framing) -> float:
    tokens = meter.part(part)
    match part:
        case ToolResultPart():
            media = sum([media_tokens(item) for item in part.media])
            ratio = framing.numbered if _NUMBERED.match(part.text) else framing.result
            return (tokens - media) * ratio + media
        case ToolCallPart():
            return tokens * framing.call
        case MediaPart():
            return tokens
        case FilePart() | ToolDefinitionPart():
            return tokens * framing.injected
        case _:
            return tokens * _prose(message, framing)


def _prose(message: Message, framing: Framing) -> float:
    if message.role == "assistant":
        return framing.said
    return framing.injected if message.injected else framing.user
