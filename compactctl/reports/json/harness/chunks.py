"""``chunks`` as a JSON document."""

from typing import Any

from compactctl.commands.harness.chunks import ChunksResult, ConversationChunks
from compactctl.reports.rendering.json_document import encoded, measure_fields


def chunks_document(result: ChunksResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.chunks/1",
        "path": result.path,
        "format": result.format,
        **measure_fields(result.measure),
        "conversations": encoded(result.conversations),
    }


@encoded.register
def _conversation_document(conversation: ConversationChunks) -> dict[str, Any]:
    return {
        "limitTokens": conversation.limit,
        "keptMessages": conversation.kept,
        "reason": conversation.reason or None,
        "chunks": encoded(conversation.chunks),
    }
