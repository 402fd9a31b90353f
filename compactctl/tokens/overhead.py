"""Estimate the tokens that messages add to a request, by model family.

Ratios and constants are fitted by least absolute errors to what providers reported between one
request and the next: 59 sessions of Claude up to 4.6, 75 of Claude 4.7 and later, and 101 of
OpenAI's models in Codex and OpenCode, with at most 150 steps of each.
``tests/benchmarks/estimates/fit.py`` fits them; ``docs/counting.md`` shows the errors with
constants that were fitted on other projects than those measured.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    OmittedPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.records import Record, replace
from compactctl.tokens.counter_units import tokens_per_o200k
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import ModelInfo

_NUMBERED = re.compile(r" *\d+[→\t]")


class SignatureEstimate(Record):
    """Estimates reasoning by the length of its signature or encrypted data.

    A character counts ``per_character`` tokens; ``envelope`` tokens of it are not reasoning.
    """

    per_character: float = 0.0
    envelope: float = 0.0

    def tokens(self, characters: int) -> float:
        """Estimate the reasoning tokens behind a signature of this length, at least 0."""
        return max(0.0, characters * self.per_character - self.envelope)


NO_SIGNATURE = SignatureEstimate()
# As Codex estimates encrypted reasoning (openai/codex, history.rs, estimate_reasoning_length): the
# data is base64, 650 bytes of it are the envelope, and four bytes are a token. Over the 38 pieces
# of a session that kept its reasoning, this is 1.18 times the reported.
OPENAI_SIGNATURE = SignatureEstimate(per_character=3 / 4 / 4, envelope=650 / 4)


class RequestOverhead(Record):
    """How counted tokens become reported tokens: ratios by kind of content, plus constants.

    Attributes:
        result: ratio for tool results.
        numbered: ratio for tool results with line numbers, which vocabularies count more alike.
        call: ratio for tool calls.
        assistant_text, user_text, injected: ratios for text, by who wrote it.
        per_call, per_result: tokens added for each tool call and each tool result.
        per_injected: tokens added for each message that the client injected.
        per_prompt, per_text: tokens added for each message with text of the user and of others.
        hidden_reasoning: estimate of reasoning whose text is not stored.
        summarized_reasoning: the same if a text is stored, which may be a summary of it.
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
        """Return the overhead for a counter that counts ``factor`` times fewer tokens."""
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


# For counts with the reconstructed vocabulary of the model, by its name. What remains are the
# escapes of arguments, which are sent as JSON values, and the constants.
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
    """Return the overhead of a model's requests for tokens of ``counter``.

    All families but Claude are treated like OpenAI's.
    """
    if counter.id == model.reconstruction:
        return RECONSTRUCTED[counter.id]
    return _of_family(model).scaled(1 / tokens_per_o200k(counter, model))


def _of_family(model: ModelInfo) -> RequestOverhead:
    """Return the overhead for o200k_base counts."""
    if model.family.startswith("Claude"):
        return CLAUDE_UP_TO_4_6 if model.family.endswith("up to 4.6") else CLAUDE_FROM_4_7
    overhead = OPENAI.scaled(model.factor)
    if model.family.startswith("OpenAI"):
        return overhead
    return replace(overhead, hidden_reasoning=NO_SIGNATURE, summarized_reasoning=NO_SIGNATURE)


class RequestMeter:
    """Estimates what messages add to a request, in reported tokens, and caches it.

    Memory grows with the messages estimated; estimates never change. ``meter`` counts their text.
    """

    def __init__(self, meter: Meter, overhead: RequestOverhead) -> None:
        self.overhead = overhead
        self.meter = meter
        # By identity, as in the meter, which keeps the messages alive. Few have hidden reasoning.
        self._visible: dict[int, float] = {}
        self._hidden: dict[int, float] = {}

    def total(self, message: Message) -> float:
        """Estimate everything that a message adds."""
        visible = self._visible.get(id(message))
        if visible is None:
            visible = self._estimate(message)
        return visible + self._hidden.get(id(message), 0.0)

    def visible(self, message: Message) -> float:
        """Estimate what a message adds without reasoning whose text is not stored."""
        cached = self._visible.get(id(message))
        return self._estimate(message) if cached is None else cached

    def _estimate(self, message: Message) -> float:
        self.meter.message(message)
        visible = _visible_tokens(message, self.meter, self.overhead)
        self._visible[id(message)] = visible
        hidden = _hidden_tokens(message, self.meter, self.overhead)
        if hidden:
            self._hidden[id(message)] = hidden
        return visible


def _visible_tokens(message: Message, meter: Meter, overhead: RequestOverhead) -> float:
    tokens: float = 0
    for part in message.parts:
        tokens += _part_tokens(part, message, meter, overhead)
    return tokens + overhead_tokens(message, overhead)


def overhead_tokens(message: Message, overhead: RequestOverhead) -> int:
    """Return the tokens that a message adds to a request beside those of its content."""
    tokens, has_text = 0, False
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            tokens += overhead.per_call + overhead.per_result * bool(part.added)
        elif isinstance(part, ToolResultPart):
            tokens += overhead.per_result
        elif isinstance(part, TextPart):
            has_text = True
    if message.origin.is_injected and message.role == "user":
        return tokens + overhead.per_injected
    if has_text:
        return tokens + (overhead.per_prompt if message.role == "user" else overhead.per_text)
    return tokens


def _hidden_tokens(message: Message, meter: Meter, overhead: RequestOverhead) -> float:
    """Estimate the reasoning tokens that the file holds only as a signature or encrypted data.

    OpenAI, 2,000 characters: 2,000 * 0.1875 - 162.5 = 212.5 tokens. With a stored summary of 40
    tokens, 172.5: the summary describes the same reasoning and is already counted as text.
    """
    reasoning_parts = [part for part in message.parts if isinstance(part, ReasoningPart)]
    if not reasoning_parts:
        return 0.0
    estimates = [
        (overhead.summarized_reasoning if part.text else overhead.hidden_reasoning).tokens(
            part.sealed
        )
        for part in reasoning_parts
        if part.sealed and not part.is_expired
    ]
    if not any(estimates):
        return 0.0
    visible = sum([meter.part(part) for part in reasoning_parts]) * overhead.assistant_text
    return max(0.0, sum(estimates) - visible)


def _part_tokens(part: Part, message: Message, meter: Meter, overhead: RequestOverhead) -> float:
    tokens = meter.part(part)
    match part:
        case ToolResultPart():
            media = sum([meter.part(item) for item in part.media]) if part.media else 0
            ratio = overhead.numbered if has_line_numbers(part.text) else overhead.result
            return (tokens - media) * ratio + media
        case ToolCallPart():
            return tokens * overhead.call
        case MediaPart() | OmittedPart():
            return tokens
        case FilePart() | ToolDefinitionPart():
            return tokens * overhead.injected
        case _:
            return tokens * _text_ratio(message, overhead)


def has_line_numbers(text: str) -> bool:
    """Return whether a text begins with a line number, as clients show files."""
    return _NUMBERED.match(text) is not None


def _text_ratio(message: Message, overhead: RequestOverhead) -> float:
    if message.role == "assistant":
        return overhead.assistant_text
    return overhead.injected if message.origin.is_injected else overhead.user_text
