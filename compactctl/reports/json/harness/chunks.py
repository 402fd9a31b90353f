"""``chunks`` as a JSON document."""

from typing import Any

from compactctl.commands.harness.chunks import ChunksResult, ConversationChunks
from compactctl.reports.rendering.json_document import fields_of, measure_fields


def chunks_document(result: ChunksResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.chunks/1",
        "path": result.path,
        "format": result.format,
        **measure_fields(result.measure),
        "conversations": [_conversation_document(found) for found in result.conversations],
    }


def _conversation_document(found: ConversationChunks) -> dict[str, Any]:
    return {
        "limitTokens": found.limit,
        "keptMessages": found.kept,
        "reason": found.reason or None,
        "chunks": [fields_of(row) for row in found.chunks],
    }
