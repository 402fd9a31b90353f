"""What no stage may touch: the newest work, pinned messages, protected tools, fixed records."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from compactctl.errors import UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import atomic_units, cut_points, parts_of_tools
from compactctl.history.turns import find_steps, find_turns, leading_system_count
from compactctl.model.message import Message, MessageId
from compactctl.tokens.meter import part_texts

# A turn means nothing in a session with one prompt and hundreds of steps, so the newest steps
# stand in for it; 10 is the horizon at which quality measurements look for immediate needs.
DEFAULT_KEEP_STEPS = 10
# How many lines an error names.
_MAX_LINES = 6

Fits = Callable[[Sequence[Message]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectOptions:
    """What the user wants left alone.

    Attributes:
        keep_turns: the number of newest turns; None for the newest turn's prompt and its newest
            steps, and what came with the prompt where these are few.
        keep_steps: how many newest steps these are.
        pins: message ids, or regular expressions searched in the messages' texts.
        tools: names, in any case.
        freeze_before: a message id or a number of messages: what stands before is left alone.
        keep_prefix: the part of the size to reach that the oldest messages may take which are left
            alone, up to 1; None for none of it.
        elsewhere: those of the message ids among them that stand in another conversation.
    """

    keep_turns: int | None = None
    keep_steps: int = DEFAULT_KEEP_STEPS
    pins: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    freeze_before: str = ""
    keep_prefix: float | None = None
    elsewhere: frozenset[str] = frozenset()

    def across(self, messages: Iterable[Message]) -> "ProtectOptions":
        """Return the options for each conversation of a transcript, which has these messages.

        An id in one conversation is neither a mistake in the others nor a pattern.
        """
        names = {self.freeze_before, *self.pins}
        found = frozenset(message.id for message in messages if message.id in names)
        return replace(self, elsewhere=found)


def protected_messages(
    messages: Sequence[Message],
    options: ProtectOptions = ProtectOptions(),
    has_room: Fits = lambda _: True,
    prefix_fits: Fits = lambda _: False,
) -> Mapping[MessageId, str]:
    """Return the messages to leave alone, each with the reason in a user's words.

    Of the newest steps as many are left alone unasked as ``has_room`` allows, at least one; of the
    oldest messages as many as ``prefix_fits`` allows.

    Raises:
        UsageError: a pin is neither a message id nor a valid regular expression, or there is no
            message to freeze before.
    """
    reasons: dict[MessageId, str] = {}
    for index, reason in (
        *_fixed(messages),
        *((index, "system prompt") for index in range(leading_system_count(messages))),
        *_frozen(messages, options),
        *(_protected_prefix(messages, prefix_fits) if options.keep_prefix else ()),
        *_pinned(messages, options),
        *_protected_tool_messages(messages, options.tools),
        *_newest_work(messages, options, has_room),
    ):
        reasons.setdefault(messages[index].id, reason)
    return reasons


def hideable(view: ConversationView, ids: Iterable[MessageId]) -> tuple[MessageId, ...]:
    """Return those of ``ids`` that may be hidden together, in the order of the conversation.

    See ``reasons_to_stay`` for the others.
    """
    wanted = set(ids)
    reasons = reasons_to_stay(view, wanted)
    return tuple(m.id for m in view.messages if m.id in wanted and m.id not in reasons)


def reasons_to_stay(view: ConversationView, ids: Iterable[MessageId]) -> Mapping[MessageId, str]:
    """Return those of ``ids`` that may not be hidden together, each with the reason.

    They are the system prompt, what is protected, fixed or anchored, what a summary or marker
    could only stand in for before an anchored message, and every unit of which a message stays or
    is not among ``ids``.
    """
    wanted, messages = set(ids), view.messages
    own = dict(_reasons_by_index(view))
    reasons: dict[MessageId, str] = {}
    for unit in atomic_units(messages):
        staying = [index for index in unit if index in own or messages[index].id not in wanted]
        for index in unit if staying else ():
            if messages[index].id in wanted:
                reasons[messages[index].id] = own.get(index) or _bond(messages, staying, own)
    return reasons


def _reasons_by_index(view: ConversationView) -> Iterator[tuple[int, str]]:
    """Yield the messages that stay whatever else is hidden, by their places."""
    front = leading_system_count(view.messages)
    behind = _in_unmovable_unit(view.messages)
    for index, (message, is_behind) in enumerate(zip(view.messages, behind, strict=True)):
        reason = (
            view.protection.reasons.get(message.id)
            or message.locks.immutable_reason
            or message.locks.unmovable_reason
        )
        if reason or index < front:
            yield index, reason or "system prompt"
        elif is_behind:
            yield index, "nothing can be written before the message that holds it in its place"


def _bond(messages: Sequence[Message], staying: Sequence[int], own: Mapping[int, str]) -> str:
    """Say which messages of its unit keep a message from being hidden."""
    held = next((index for index in staying if index in own), None)
    lines = lines_of(messages[index] for index in (staying if held is None else [held]))
    what = "a call and its result, or one response"
    if held is None:
        return f"it belongs with {lines} ({what}); hide all of them or none"
    return f"it belongs with {lines} ({what}), which stays: {own[held]}"


def lines_of(messages: Iterable[Message]) -> str:
    """Name the lines of messages, no more than fit an error."""
    lines = [f"{message.line + 1:,}" for message in messages]
    more = f" and {len(lines) - _MAX_LINES:,} more" if len(lines) > _MAX_LINES else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(lines[:_MAX_LINES])}{more}"


def _in_unmovable_unit(messages: Sequence[Message]) -> Iterator[bool]:
    """Yield for each message whether the unit that is open there begins with an anchored one."""
    cuts = set(cut_points(messages))
    anchored = False
    for index, message in enumerate(messages):
        if index in cuts:
            anchored = bool(message.locks.unmovable_reason)
        yield anchored


def _fixed(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    for index, message in enumerate(messages):
        if message.locks.immutable_reason:
            yield index, message.locks.immutable_reason


def _frozen(messages: Sequence[Message], options: ProtectOptions) -> Iterator[tuple[int, str]]:
    before = options.freeze_before
    ids = {message.id: index for index, message in enumerate(messages)}
    end = ids.get(MessageId(before))
    if not before or (end is None and before in options.elsewhere):
        return
    if end is None and before.isdecimal():
        end = min(int(before), len(messages))
    if end is None:
        raise UsageError(
            f"--freeze-before {before!r} is neither a message id here nor a number of messages"
        )
    yield from ((index, "before the point of --freeze-before") for index in range(end))


def _protected_prefix(messages: Sequence[Message], has_room: Fits) -> Iterator[tuple[int, str]]:
    cuts = cut_points(messages)
    fitting = bisect_left(cuts, 1, key=lambda cut: int(not has_room(messages[:cut])))
    for index in range(cuts[fitting - 1] if fitting else 0):
        yield index, "in the prefix that --keep-prefix leaves alone"


def _pinned(messages: Sequence[Message], options: ProtectOptions) -> Iterator[tuple[int, str]]:
    ids = {message.id: index for index, message in enumerate(messages)}
    for pin in options.pins:
        if MessageId(pin) in ids:
            yield ids[MessageId(pin)], "pinned by its id"
        if MessageId(pin) in ids or pin in options.elsewhere:
            continue
        pattern = _compiled(pin)
        for index, message in enumerate(messages):
            if any(pattern.search(text) for part in message.parts for text in part_texts(part)):
                yield index, pin_reason(pin)


def pin_reason(pattern: str) -> str:
    """Return why a message stays that a pattern was found in."""
    return f'pinned by "{pattern}"'


def _compiled(pin: str) -> re.Pattern[str]:
    try:
        return re.compile(pin)
    except re.error as error:
        raise UsageError(
            f"--pin {pin!r} is neither a message id here nor a regular expression: {error}"
        ) from error


def _protected_tool_messages(
    messages: Sequence[Message], tools: Sequence[str]
) -> Iterator[tuple[int, str]]:
    if tools:
        for place, tool in parts_of_tools(messages, tools).items():
            yield place.message, f"protected tool {tool}"


def _newest_work(
    messages: Sequence[Message], options: ProtectOptions, has_room: Fits
) -> Iterator[tuple[int, str]]:
    ranges, keep_turns = find_turns(messages), options.keep_turns
    if keep_turns is not None:
        kept = ranges[max(0, len(ranges) - keep_turns) :]
        reason = "in the newest turn" if keep_turns == 1 else f"in the newest {keep_turns} turns"
        yield from ((index, reason) for turn in kept for index in turn)
    elif ranges:
        yield from _newest_steps(messages, ranges[-1], options.keep_steps, has_room)


def _prompt(messages: Sequence[Message], first: int) -> Iterator[int]:
    """Yield the message with which a person begins a turn, and what their command stands for."""
    yield first
    yield from takewhile(
        lambda index: messages[index].origin.is_instruction, range(first + 1, len(messages))
    )


def _newest_steps(
    messages: Sequence[Message], turn: range, most: int, has_room: Fits
) -> Iterator[tuple[int, str]]:
    prompt = next((index for index in turn if messages[index].starts_turn), None)
    if prompt is not None:
        yield from ((index, "prompt of the newest turn") for index in _prompt(messages, prompt))
    step_starts = [first for first, *_ in find_steps(messages) if first in turn][-most:]
    kept = [first for first in step_starts if has_room(messages[first:])] or step_starts[-1:]
    is_whole = prompt is not None and len(step_starts) < most and kept == step_starts
    with_prompt = is_whole and has_room(messages[prompt:])
    count = most if kept == step_starts else len(kept)
    reason = f"in the newest {count} steps" if count > 1 else "the newest step"
    for index in turn:
        came_along = with_prompt and messages[index].origin.is_injected
        if came_along or (kept and index >= kept[0]):
            yield index, reason
