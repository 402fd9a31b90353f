"""What a request costs beyond the text of its messages, by model family.

Ratios and frames are those of least absolute errors in what providers reported between one request
and the next, over what was counted of it: in 59 sessions of Claude up to 4.6, 75 of Claude 4.7 and
later, and 101 with OpenAI's models in Codex and OpenCode, at most 150 steps of each.
``tests/benchmarks/estimates/fit.py`` makes them, and ``docs/accuracy.md`` shows what they are
without the sessions of any one project.
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
from compactctl.tokens.counter_units import tokens_per_o200k
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import ModelInfo

_NUMBERED = re.compile(r" *\d+[→\t]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureEstimate:
    """How many tokens of reasoning its signature or encrypted data stands for.

    ``per_character`` of it, less ``envelope`` tokens for what is not reasoning in it.
    """

    per_character: float = 0.0
    envelope: float = 0.0

    def tokens(self, characters: int) -> float:
        """Estimate the reasoning behind a signature of this length."""
        return max(0.0, characters * self.per_character - self.envelope)


NO_SIGNATURE = SignatureEstimate()
# What Codex estimates for encrypted reasoning (openai/codex, history.rs,
# estimate_reasoning_length): base64 of bytes, 650 of them an envelope, four to a token. Over the 38
# pieces of the one session at hand whose reasoning was not taken out it is 1.18 times the reported.
OPENAI_SIGNATURE = SignatureEstimate(per_character=3 / 4 / 4, envelope=650 / 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOverhead:
    """How many reported tokens a counted token of each kind is, and constants in tokens.

    ``numbered`` is for tool results with line numbers, which other vocabularies count alike, and
    ``result`` for all others. ``per_call`` is added for each tool call, ``per_result`` for each
    tool result, ``per_injected`` for each record that the client injected, ``per_prompt`` for each
    message of a person's text, ``per_text`` for all other text. ``hidden_reasoning`` tells by the
    signature how long thinking is whose text is not stored, ``summarized_reasoning`` where a text
    is stored, which may be a summary of it.
    """

    result: float
    numbered: float
    call: float
    assistant_text: float
    user_text: float
    injected: float
    per_call: int
    per_result: int
    per_injected: int
    per_prompt: int
    per_text: int
    hidden_reasoning: SignatureEstimate = NO_SIGNATURE
    summarized_reasoning: SignatureEstimate = NO_SIGNATURE

    def scaled(self, factor: float) -> "RequestOverhead":
        """Return the framing for a counter that counts so many times fewer tokens."""
        return replace(
            self,
            result=self.result * factor,
            numbered=self.numbered * factor,
            call=self.call * factor,
            assistant_text=self.assistant_text * factor,
            user_text=self.user_text * factor,
            injected=self.injected * factor,
        )


# For o200k_base counts.
CLAUDE_UP_TO_4_6 = RequestOverhead(
    result=1.26,
    numbered=1.13,
    call=1.1,
    assistant_text=1.19,
    user_text=1.18,
    injected=1.21,
    per_call=56,
    per_result=29,
    per_injected=15,
    per_prompt=1,
    per_text=3,
    hidden_reasoning=SignatureEstimate(per_character=0.21, envelope=49),
    summarized_reasoning=SignatureEstimate(per_character=0.2, envelope=39),
)
CLAUDE_FROM_4_7 = RequestOverhead(
    result=1.62,
    numbered=1.57,
    call=1.51,
    assistant_text=1.58,
    user_text=1.51,
    injected=1.63,
    per_call=70,
    per_result=6,
    per_injected=14,
    per_prompt=3,
    per_text=0,
    hidden_reasoning=SignatureEstimate(per_character=0.29, envelope=92),
    summarized_reasoning=SignatureEstimate(per_character=0.27, envelope=96),
)
OPENAI = RequestOverhead(
    result=1.0,
    numbered=1.0,
    call=1.0,
    assistant_text=1.0,
    user_text=1.0,
    injected=1.0,
    per_call=13,
    per_result=10,
    per_injected=4,
    per_prompt=6,
    per_text=6,
    hidden_reasoning=OPENAI_SIGNATURE,
    summarized_reasoning=OPENAI_SIGNATURE,
)


# For counts with the reconstructed vocabulary of the model, by its name: what is left are the
# escapes of arguments, which are sent as JSON values, and the frames.
RECONSTRUCTED: Mapping[str, RequestOverhead] = MappingProxyType(
    {
        "claude-3": RequestOverhead(
            result=1.0,
            numbered=1.0,
            call=0.85,
            assistant_text=1.0,
            user_text=1.02,
            injected=1.02,
            per_call=65,
            per_result=29,
            per_injected=24,
            per_prompt=3,
            per_text=4,
            hidden_reasoning=SignatureEstimate(per_character=0.21, envelope=52),
            summarized_reasoning=SignatureEstimate(per_character=0.2, envelope=34),
        ),
        "claude-4.7": RequestOverhead(
            result=1.0,
            numbered=1.0,
            call=0.9,
            assistant_text=1.0,
            user_text=1.0,
            injected=1.03,
            per_call=73,
            per_result=8,
            per_injected=27,
            per_prompt=4,
            per_text=1,
            hidden_reasoning=SignatureEstimate(per_character=0.28, envelope=92),
            summarized_reasoning=SignatureEstimate(per_character=0.27, envelope=97),
        ),
    }
)


def overhead_for(model: ModelInfo, counter: TokenCounter) -> RequestOverhead:
    """Return the framing of a model's requests for what ``counter`` counts.

    Families other than Claude are framed like OpenAI's.
    """
    if counter.id == model.reconstruction:
        return RECONSTRUCTED[counter.id]
    return _of_family(model).scaled(1 / tokens_per_o200k(counter, model))


def _of_family(model: ModelInfo) -> RequestOverhead:
    """Return the framing for o200k_base counts."""
    if not model.family.startswith("Claude"):
        overhead = OPENAI.scaled(model.factor)
        is_known = model.family.startswith("OpenAI")
        return (
            overhead
            if is_known
            else replace(overhead, hidden_reasoning=NO_SIGNATURE, summarized_reasoning=NO_SIGNATURE)
        )
    return CLAUDE_UP_TO_4_6 if model.family.endswith("up to 4.6") else CLAUDE_FROM_4_7


class RequestMeter:
    """Estimates what messages add to a request, in reported tokens, and remembers it.

    Memory grows with the messages estimated; results never change.
    """

    def __init__(self, meter: Meter, overhead: RequestOverhead) -> None:
        self.overhead = overhead
        self._meter = meter
        # By identity, as in the meter, which keeps the messages. Few have sealed reasoning.
        self._visible: dict[int, float] = {}
        self._sealed: dict[int, float] = {}

    def total(self, message: Message) -> float:
        """Estimate all that a message adds."""
        return self.visible(message) + self._sealed.get(id(message), 0.0)

    def visible(self, message: Message) -> float:
        """Estimate what a message adds without thinking whose text is not stored."""
        known = self._visible.get(id(message))
        return self._estimate(message) if known is None else known

    def _estimate(self, message: Message) -> float:
        self._meter.message(message)
        visible = _visible_tokens(message, self._meter, self.overhead)
        self._visible[id(message)] = visible
        sealed = _sealed_tokens(message, self._meter, self.overhead)
        if sealed:
            self._sealed[id(message)] = sealed
        return visible


def _visible_tokens(message: Message, meter: Meter, overhead: RequestOverhead) -> float:
    tokens = sum([_part_tokens(part, message, meter, overhead) for part in message.parts])
    return tokens + overhead_tokens(message, overhead)


def overhead_tokens(message: Message, overhead: RequestOverhead) -> int:
    """Return what a message adds to a request beside what is counted of it."""
    answers = len(message.results) + sum([bool(call.added) for call in message.calls])
    tokens = overhead.per_call * len(message.calls) + overhead.per_result * answers
    if message.origin.is_injected and message.role == "user":
        return tokens + overhead.per_injected
    if any(isinstance(part, TextPart) for part in message.parts):
        return tokens + (overhead.per_prompt if message.role == "user" else overhead.per_text)
    return tokens


def _sealed_tokens(message: Message, meter: Meter, overhead: RequestOverhead) -> float:
    """Estimate by its signatures what of a message's thinking is not stored as text.

    What is stored beside them is a summary of the same.
    """
    thought = [part for part in message.parts if isinstance(part, ReasoningPart)]
    sealed = [
        (overhead.summarized_reasoning if part.text else overhead.hidden_reasoning).tokens(
            part.sealed
        )
        for part in thought
        if part.sealed
    ]
    if not any(sealed):
        return 0.0
    told = sum([meter.part(part) for part in thought]) * overhead.assistant_text
    return max(0.0, sum(sealed) - told)


def _part_tokens(part: Part, message: Message, meter: Meter, overhead: RequestOverhead) -> float:
    tokens = meter.part(part)
    match part:
        case ToolResultPart():
            media = sum([meter.part(item) for item in part.media])
            ratio = overhead.numbered if has_line_numbers(part.text) else overhead.result
            return (tokens - media) * ratio + media
        case ToolCallPart():
            return tokens * overhead.call
        case MediaPart():
            return tokens
        case FilePart() | ToolDefinitionPart():
            return tokens * overhead.injected
        case _:
            return tokens * _prose(message, overhead)


def has_line_numbers(text: str) -> bool:
    """Tell whether a text begins as a file does that is shown with the numbers of its lines."""
    return _NUMBERED.match(text) is not None


def _prose(message: Message, overhead: RequestOverhead) -> float:
    if message.role == "assistant":
        return overhead.assistant_text
    return overhead.injected if message.origin.is_injected else overhead.user_text
