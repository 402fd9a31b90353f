"""What no stage may change: the newest work, pins, protected tools, immutable records."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from math import inf

from compactctl.asks import MAY, PROTECTED, ask
from compactctl.errors import UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import atomic_units, cut_points, parts_of_tools
from compactctl.history.references import messages_named, parse_reference
from compactctl.history.turns import find_steps, find_turns, leading_system_count
from compactctl.model.message import Message, MessageId
from compactctl.records import Record, replace
from compactctl.tokens.budget import parse_share
from compactctl.tokens.meter import part_texts

# A session may be one turn of hundreds of steps, so by default the newest steps are protected, not
# turns. 10 is also how far ahead the quality measurements look for what is needed next.
DEFAULT_KEEP_STEPS = 10
# How many lines an error names.
_MAX_LINES = 6


class ProtectOptions(Record):
    """What the user wants to protect.

    Attributes:
        tools: in any case.
        pins: regular expressions are searched for in the texts of messages.
        keep_turns: without it, what was injected beside the newest turn's prompt is protected too,
            if the turn is short and fits.
        keep_steps: number of the newest steps that are protected without ``keep_turns``.
        elsewhere: those of these message ids that belong to another conversation.
    """

    tools: tuple[str, ...] = ask(
        (),
        "Never change calls or results of this tool (repeatable).",
        PROTECTED,
        MAY,
        flag="--protect-tool",
        metavar="NAME",
    )
    pins: tuple[str, ...] = ask(
        (),
        "Never change messages with this id or reference (L158), or matching this regex "
        "(repeatable).",
        PROTECTED,
        MAY,
        flag="--pin",
        metavar="ID|REGEX",
    )
    keep_turns: int | None = ask(
        None,
        "Never change the newest N turns. [default: the newest turn's prompt and its newest "
        f"{DEFAULT_KEEP_STEPS} steps]",
        PROTECTED,
        MAY,
        metavar="N",
    )
    freeze_before: str | None = ask(
        None,
        "Never change anything before this message (or the first N messages), so that its prompt "
        "cache stays valid.",
        PROTECTED,
        MAY,
        metavar="ID|N",
    )
    keep_prefix: float | None = ask(
        None,
        "Never change the oldest messages, up to this share of the target size (10% or 0.1), so "
        "that their prompt cache stays valid.",
        PROTECTED,
        MAY,
        metavar="SHARE",
        parse=parse_share,
    )
    keep_steps: int = DEFAULT_KEEP_STEPS
    elsewhere: frozenset[str] = frozenset()

    def across(self, messages: Iterable[Message]) -> "ProtectOptions":
        """Return options for each conversation of a transcript with these messages.

        With them, a message id of one conversation is neither an error nor a pattern in the others.
        """
        references = {self.freeze_before, *self.pins}
        ids = frozenset(message.id for message in messages if message.id in references)
        return replace(self, elsewhere=ids)


class ProtectionLimits(Record):
    """The sizes up to which the newest and the oldest messages are protected.

    ``size`` measures messages in the unit of both limits.
    """

    size: Callable[[Sequence[Message]], float]
    newest: float = inf
    oldest: float = 0


USUAL_PROTECTION = ProtectOptions()
_NO_LIMITS = ProtectionLimits(size=len)


def protected_messages(
    messages: Sequence[Message],
    options: ProtectOptions = USUAL_PROTECTION,
    limits: ProtectionLimits = _NO_LIMITS,
) -> Mapping[MessageId, str]:
    """Return the protected messages, each with the reason shown to users.

    Without ``keep_turns`` these include as many of the newest steps as fit, at least one; with
    ``keep_prefix`` as many of the oldest messages as fit.

    Raises:
        UsageError: a pin is neither a message id nor a valid regular expression, or
            ``freeze_before`` is neither a message id nor a number.
    """
    reasons: dict[MessageId, str] = {}
    for index, reason in (
        *_immutable(messages),
        *_system_prompt(messages),
        *_frozen(messages, options),
        *(_protected_prefix(messages, limits) if options.keep_prefix else ()),
        *_pinned(messages, options),
        *_protected_tool_messages(messages, options.tools),
        *_newest_work(messages, options, limits),
    ):
        reasons.setdefault(messages[index].id, reason)
    return reasons


def hideable(view: ConversationView, ids: Iterable[MessageId]) -> tuple[MessageId, ...]:
    """Return those of ``ids`` that can be hidden together, in the order of the conversation.

    ``reasons_to_stay`` explains the others.
    """
    candidate_ids = set(ids)
    reasons = reasons_to_stay(view, candidate_ids)
    return tuple(m.id for m in view.messages if m.id in candidate_ids and m.id not in reasons)


def reasons_to_stay(view: ConversationView, ids: Iterable[MessageId]) -> Mapping[MessageId, str]:
    """Return those of ``ids`` that cannot be hidden together, each with the reason.

    These are the system prompt; protected, immutable and unmovable messages; messages whose summary
    or marker would have to go before an unmovable one; and every message of a unit of which another
    message stays or is not in ``ids``.
    """
    candidate_ids, messages = set(ids), view.messages
    reasons_by_index = dict(_reasons_by_index(view))
    reasons: dict[MessageId, str] = {}
    for unit in atomic_units(messages):
        staying = [
            index
            for index in unit
            if index in reasons_by_index or messages[index].id not in candidate_ids
        ]
        for index in unit if staying else ():
            if messages[index].id in candidate_ids:
                reasons[messages[index].id] = reasons_by_index.get(index) or _unit_reason(
                    messages, staying, reasons_by_index
                )
    return reasons


def _reasons_by_index(view: ConversationView) -> Iterator[tuple[int, str]]:
    """Yield the indices of the messages that stay whatever else is hidden, with the reason."""
    prompt_reasons = dict(_system_prompt(view.messages))
    in_unmovable_units = _in_unmovable_unit(view.messages)
    for index, (message, is_in_unmovable_unit) in enumerate(
        zip(view.messages, in_unmovable_units, strict=True)
    ):
        reason = (
            view.protection.reasons.get(message.id)
            or message.locks.immutable_reason
            or message.locks.unmovable_reason
            or prompt_reasons.get(index)
        )
        if reason:
            yield index, reason
        elif is_in_unmovable_unit:
            yield index, "held in its place by a message that nothing can precede"


def _unit_reason(
    messages: Sequence[Message], staying: Sequence[int], reasons_by_index: Mapping[int, str]
) -> str:
    """Return which messages of its unit keep a message from being hidden."""
    blocking = next((index for index in staying if index in reasons_by_index), None)
    lines = lines_of(messages[index] for index in (staying if blocking is None else [blocking]))
    unit = "a call and its result, or one response"
    if blocking is None:
        return f"it belongs with {lines} ({unit}); hide all of them or none"
    return f"it belongs with {lines} ({unit}), which stays: {reasons_by_index[blocking]}"


def lines_of(messages: Iterable[Message]) -> str:
    """Name the lines of messages, at most as many as fit in an error."""
    lines = [f"{message.line + 1:,}" for message in messages]
    more = f" and {len(lines) - _MAX_LINES:,} more" if len(lines) > _MAX_LINES else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(lines[:_MAX_LINES])}{more}"


def _in_unmovable_unit(messages: Sequence[Message]) -> Iterator[bool]:
    """Yield for each message whether it follows an unmovable one with no cut point between."""
    cuts = set(cut_points(messages))
    is_unmovable = False
    for index, message in enumerate(messages):
        if index in cuts:
            is_unmovable = bool(message.locks.unmovable_reason)
        yield is_unmovable


def _immutable(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    for index, message in enumerate(messages):
        if message.locks.immutable_reason:
            yield index, message.locks.immutable_reason


def _system_prompt(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    for index in range(leading_system_count(messages)):
        is_system = messages[index].role == "system"
        yield index, "system prompt" if is_system else "the client put it before the first prompt"


def _frozen(messages: Sequence[Message], options: ProtectOptions) -> Iterator[tuple[int, str]]:
    before = options.freeze_before
    if before is None:
        return
    index_by_id = {message.id: index for index, message in enumerate(messages)}
    end = index_by_id.get(MessageId(before))
    if end is None and before in options.elsewhere:
        return
    if end is None and before.isdecimal():
        end = min(int(before), len(messages))
    elif end is None:
        end = next(messages_named(messages, before), None)
    if end is None:
        raise UsageError(
            f"--freeze-before {before!r} is neither a message id nor a number of messages"
        )
    yield from ((index, "protected by --freeze-before") for index in range(end))


def _protected_prefix(
    messages: Sequence[Message], limits: ProtectionLimits
) -> Iterator[tuple[int, str]]:
    cuts = cut_points(messages)
    n_fitting = bisect_right(cuts, limits.oldest, key=lambda cut: limits.size(messages[:cut]))
    for index in range(cuts[n_fitting - 1] if n_fitting else 0):
        yield index, "protected by --keep-prefix"


def _pinned(messages: Sequence[Message], options: ProtectOptions) -> Iterator[tuple[int, str]]:
    index_by_id = {message.id: index for index, message in enumerate(messages)}
    for pin in options.pins:
        if MessageId(pin) in index_by_id:
            yield index_by_id[MessageId(pin)], "pinned by its id"
            continue
        if pin in options.elsewhere:
            continue
        if parse_reference(pin) and (named := tuple(messages_named(messages, pin))):
            yield from ((index, pin_reason(pin)) for index in named)
            continue
        pattern = _compile_pin(pin)
        for index, message in enumerate(messages):
            if any(pattern.search(text) for part in message.parts for text in part_texts(part)):
                yield index, pin_reason(pin)


def pin_reason(pattern: str) -> str:
    """Return the reason why a message stays that matches a ``--pin`` pattern."""
    return f'pinned by "{pattern}"'


def _compile_pin(pin: str) -> re.Pattern[str]:
    try:
        return re.compile(pin)
    except re.error as error:
        raise UsageError(
            f"--pin {pin!r} is neither a message id nor a regular expression: {error}"
        ) from error


def _protected_tool_messages(
    messages: Sequence[Message], tools: Sequence[str]
) -> Iterator[tuple[int, str]]:
    if tools:
        for index, tool in parts_of_tools(messages, tools).items():
            yield index.message, f"protected tool {tool}"


def _newest_work(
    messages: Sequence[Message], options: ProtectOptions, limits: ProtectionLimits
) -> Iterator[tuple[int, str]]:
    turns, keep_turns = find_turns(messages), options.keep_turns
    if keep_turns is not None:
        newest = turns[max(0, len(turns) - keep_turns) :]
        reason = "in the newest turn" if keep_turns == 1 else f"in the newest {keep_turns} turns"
        yield from ((index, reason) for turn in newest for index in turn)
    elif turns:
        yield from _newest_steps(messages, turns[-1], options.keep_steps, limits)


def _prompt(messages: Sequence[Message], first: int) -> Iterator[int]:
    """Yield the user's message that begins a turn, and the instructions its command expands to."""
    yield first
    yield from takewhile(
        lambda index: messages[index].origin.is_instruction, range(first + 1, len(messages))
    )


def _newest_steps(
    messages: Sequence[Message], turn: range, keep_steps: int, limits: ProtectionLimits
) -> Iterator[tuple[int, str]]:
    """Yield the newest turn's prompt and as many of its newest steps as fit, but at least one.

    A prompt and 12 steps of one call and one result each, keep_steps=10:
        everything fits: steps 3-12    six messages fit: steps 10-12    nothing fits: step 12
    """
    prompt = next((index for index in turn if messages[index].starts_turn), None)
    if prompt is not None:
        yield from ((index, "prompt of the newest turn") for index in _prompt(messages, prompt))

    def fits(newest: Sequence[Message]) -> bool:
        return limits.size(newest) <= limits.newest

    step_starts = [first for first, *_ in find_steps(messages) if first in turn][-keep_steps:]
    starts = [start for start in step_starts if fits(messages[start:])] or step_starts[-1:]
    is_short_turn = prompt is not None and len(step_starts) < keep_steps and starts == step_starts
    with_prompt = is_short_turn and fits(messages[prompt:])
    count = keep_steps if starts == step_starts else len(starts)
    reason = f"in the newest {count} steps" if count > 1 else "the newest step"
    for index in turn:
        came_with_prompt = with_prompt and messages[index].origin.is_injected
        if came_with_prompt or (starts and index >= starts[0]):
            yield index, reason
