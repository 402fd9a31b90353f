"""Prioritize: hide messages of the lowest priority until the target is reached."""

from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from compactctl.errors import UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import atomic_units
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message, MessageId
from compactctl.records import Record
from compactctl.stages.support.stage import Stage, option, skip_within_target, skip_without_target
from compactctl.stages.support.truncation import HidePlanner, Marker, hide_messages
from compactctl.tokens.meter import Meter

NAME = "prioritize"
Order = Literal["newest", "oldest"]
PriorityKind = Literal["user", "assistant", "reasoning", "tool_calls", "tool_results", "injected"]
KINDS: tuple[PriorityKind, ...] = get_args(PriorityKind)
# Messages without a priority are hidden last (in prompt-tsx, JavaScript's largest safe integer).
_MAX_PRIORITY = 2**53 - 1


class PrioritizeOptions(Record):
    """Priorities, as in the pruning of prompt-tsx, which Copilot Chat uses."""

    order: Order = option("newest", "Which of two messages of equal priority to keep longer.")
    weights: tuple[str, ...] = option(
        (),
        'Priority of a kind of message, e.g. "tool_results=10". Kinds are user, assistant, '
        "reasoning, tool_calls, tool_results and injected; kinds without a weight have the "
        "highest priority.",
    )
    freeze_before: int = option(
        0, "Never hide the first N messages, so that their prompt cache stays valid."
    )
    marker: str = option(
        "[{count} messages of low priority left out to fit the context window]",
        "Text that replaces the first hidden message; ``{count}`` is the number of all hidden "
        "messages.",
    )

    def __post_init__(self) -> None:
        _parse_weights(self.weights)


class _Unit(Record, order=True):
    """A unit that may be hidden; units are hidden in ascending order."""

    priority: int
    age: int
    unit: tuple[int, ...]


def propose(
    view: ConversationView, meter: Meter, options: PrioritizeOptions
) -> Proposal | SkippedStage:
    """Propose to hide units, the lowest priority first, until the target fits."""
    if view.target is None:
        return skip_without_target(NAME)
    planner = HidePlanner(view, meter, _marker(options))
    if planner.total <= view.target:
        return skip_within_target(NAME, view.target)
    ids = _select_lowest(planner, meter, view.target, sorted(_hideable_units(planner, options)))
    if not ids:
        reason = "all messages are protected, frozen or held by the client"
        return SkippedStage(stage=NAME, reason=reason, detail="see --prioritize-freeze-before")
    return hide_messages(planner, ids, options)


def _marker(options: PrioritizeOptions) -> Marker:
    return Marker(
        stage=NAME,
        prefix="prioritize",
        template=options.marker,
        reason="among the messages of the lowest priority",
    )


def _hideable_units(planner: HidePlanner, options: PrioritizeOptions) -> Iterator[_Unit]:
    messages, weights = planner.view.messages, _parse_weights(options.weights)
    hideable = set(planner.hideable_ids(0, len(messages)))
    for unit in atomic_units(messages):
        members = [messages[index] for index in unit]
        is_frozen = unit[0] < options.freeze_before
        if is_frozen or any(m.id not in hideable or m.role == "system" for m in members):
            continue
        priority = min(weights.get(kind, _MAX_PRIORITY) for kind in _kinds(members))
        age = unit[0] if options.order == "newest" else -unit[0]
        yield _Unit(priority=priority, age=age, unit=unit)


def _select_lowest(
    planner: HidePlanner, meter: Meter, target: int, candidates: list[_Unit]
) -> tuple[MessageId, ...]:
    """Return the messages of the first candidates that suffice, in order of the conversation."""
    messages = planner.view.messages
    chosen: list[int] = []
    remaining = planner.total_without_markers
    for candidate in candidates:
        # Counting the marker is slow, so only do it when the rest fits.
        if remaining <= target and remaining + planner.marker_tokens(len(chosen)) <= target:
            break
        chosen += candidate.unit
        remaining -= meter.total(messages[index] for index in candidate.unit)
    return tuple(messages[index].id for index in sorted(chosen))


def _kinds(members: list[Message]) -> frozenset[PriorityKind]:
    """Return the kinds of a unit's messages; reasoning only counts alone."""
    kinds = frozenset(_kind(member) for member in members)
    return (kinds - {"reasoning"}) or kinds


def _kind(message: Message) -> PriorityKind:
    if message.results:
        return "tool_results"
    if message.calls:
        return "tool_calls"
    if message.role == "user":
        return "injected" if message.origin.is_injected else "user"
    if message.is_only_reasoning:
        return "reasoning"
    return "tool_results" if message.role == "tool" else "assistant"


def _parse_weights(texts: tuple[str, ...]) -> Mapping[str, int]:
    return dict(_parse_weight(text) for text in texts)


def _parse_weight(text: str) -> tuple[str, int]:
    kind, _, number = text.partition("=")
    try:
        weight = int(number)
    except ValueError:
        weight = None
    if weight is None or kind.strip() not in KINDS:
        raise UsageError(
            f"--prioritize-weights {text!r} is not a kind and a number, e.g. tool_results=10; "
            f"kinds are {', '.join(KINDS)}"
        )
    return kind.strip(), weight


STAGE = Stage(
    name=NAME,
    title="hide messages of the lowest priority until the target is reached",
    options=PrioritizeOptions,
    propose=propose,
    example=PrioritizeOptions(weights=("assistant=1", "tool_results=2")),
)
