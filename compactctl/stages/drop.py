"""Drop: hide all calls of the named tools, with their results."""

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, parts_of_tools
from compactctl.history.protection import hideable
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message, MessageId, ReasoningPart
from compactctl.records import Record
from compactctl.stages.support.stage import Stage, option
from compactctl.stages.support.truncation import Marker, hide_behind_marker
from compactctl.tokens.meter import Meter

NAME = "drop"


class DropOptions(Record):
    """The tools whose calls and results are hidden, and the marker that replaces them."""

    tools: tuple[str, ...] = option(
        (),
        "Tools whose calls and results to hide; case is ignored. VS Code Copilot Chat omits "
        '"tool_search" from summaries.',
    )
    marker: str = option(
        "[Tool calls and results left out: {count}]",
        "Text that replaces the hidden messages; ``{count}`` is their number.",
    )


def propose(view: ConversationView, meter: Meter, options: DropOptions) -> Proposal | SkippedStage:
    """Propose to hide the messages that contain only calls and results of the named tools.

    The reasoning that led to such calls is hidden with them.
    """
    if not options.tools:
        return SkippedStage(stage=NAME, reason="no tool named", detail="name one with --drop-tools")
    ids = hideable(view, _droppable_ids(view.messages, options.tools))
    if not ids:
        reason = (
            f"no message that can be hidden contains only calls or results of {_tool_list(options)}"
        )
        detail = "other messages have more content or are protected"
        return SkippedStage(stage=NAME, reason=reason, detail=detail)
    marker = _marker(options)
    hidden = set(ids)
    saved = meter.total(message for message in view.messages if message.id in hidden)
    if saved <= meter.text(marker.text(len(ids))):
        reason = f"the calls and results of {_tool_list(options)} are no larger than the marker"
        return SkippedStage(stage=NAME, reason=reason)
    return hide_behind_marker(view, marker, ids, options, (f"messages hidden: {len(ids):,}",))


def _droppable_ids(messages: tuple[Message, ...], tools: tuple[str, ...]) -> list[MessageId]:
    tool_parts = parts_of_tools(messages, tools)
    droppable = [
        message
        for index, message in enumerate(messages)
        if message.parts
        and not message.is_only_reasoning
        # A result that contains the user's answer is never dropped, whatever the tool.
        and not any(part.said for part in message.results)
        and all(
            PartIndex(index, n) in tool_parts or isinstance(part, ReasoningPart)
            for n, part in enumerate(message.parts)
        )
    ]
    responses = {message.response_id for message in droppable} - {None}
    thoughts = (m for m in messages if m.response_id in responses and m.is_only_reasoning)
    return [message.id for message in (*droppable, *thoughts)]


def _marker(options: DropOptions) -> Marker:
    reason = f"contains only calls or results of {_tool_list(options)}"
    return Marker(stage=NAME, prefix="drop", template=options.marker, reason=reason, final=True)


def _tool_list(options: DropOptions) -> str:
    return ", ".join(options.tools)


STAGE = Stage(
    name=NAME,
    title="hide all calls of the named tools, with their results",
    options=DropOptions,
    propose=propose,
    example=DropOptions(tools=("Read", "web_search")),
)
