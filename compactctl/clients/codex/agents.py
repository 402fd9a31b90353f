"""Messages between the agents of Codex, which it stores in another form than it sends."""

import re
from collections.abc import Mapping
from typing import Any

from compactctl.clients.content.openai import content_parts
from compactctl.clients.content.response_items import AGENT_MESSAGE
from compactctl.clients.records.json_values import text_or_empty
from compactctl.clients.records.message_draft import MessageDraft, text_parts
from compactctl.model.message import JsonPath

# The name of an agent below its parents, of which the first is "root" (``AgentPath`` of 0.171.0).
_AGENT = re.compile(r"/root(?:/(?!root(?:/|\Z))[a-z0-9_]+)*", re.ASCII)


def is_loaded(communication: Mapping[str, Any]) -> bool:
    """Whether the client can load a message to an agent."""
    agents = (text_or_empty(communication.get(name)) for name in ("author", "recipient"))
    return (
        all(map(_AGENT.fullmatch, agents))
        and isinstance(communication.get("content"), str)
        and isinstance(communication.get("trigger_turn"), bool)
    )


def agent_item(communication: Mapping[str, Any]) -> dict[str, Any]:
    """Return the item that is sent (``to_model_input_item`` of 0.171.0)."""
    author, recipient = (text_or_empty(communication.get(n)) for n in ("author", "recipient"))
    encrypted = communication.get("encrypted_content")
    content = [{"type": "input_text", "text": text_or_empty(communication.get("content"))}]
    if isinstance(encrypted, str):
        kind = "NEW_TASK" if communication.get("trigger_turn") is True else "MESSAGE"
        text = f"Message Type: {kind}\nTask name: {recipient}\nSender: {author}\nPayload:\n"
        content = [
            {"type": "input_text", "text": text},
            {"type": "encrypted_content", "encrypted_content": encrypted},
        ]
    return {"type": AGENT_MESSAGE, "author": author, "recipient": recipient, "content": content}


def agent_draft(communication: Mapping[str, Any], path: JsonPath) -> MessageDraft:
    """Parse a message to an agent; one that is encrypted cannot be changed."""
    if isinstance(communication.get("encrypted_content"), str):
        content = content_parts(agent_item(communication)["content"], path)
        reason = "it is encrypted"
        return MessageDraft(role="user", parts=content, is_injected=True, immutable_reason=reason)
    parts = text_parts(communication.get("content"), (*path, "content"))
    return MessageDraft(role="user", parts=parts, is_injected=True)
