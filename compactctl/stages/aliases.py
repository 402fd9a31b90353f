"""Names that other systems' documents give to our stages; reports use the name the user typed."""

from collections.abc import Mapping

# Name in the document -> our name.
ALIASES: Mapping[str, str] = {
    # NeuroLink, Context Compaction: CompactionStage, and the headings of its four stages
    "deduplicate": "dedup",
    "tool-output-pruning": "prune",
    "file-read-deduplication": "dedup",
    "llm-summarization": "summarize",
    "sliding-window-truncation": "truncate",
    # Codebuddy, Context Window Compaction: its four tiers
    "tool-strip": "strip",
    "multi-chunk": "chunk",
    "plain-fallback": "plain",
    # agent-code, Compaction: its three strategies
    "llm-summary": "summarize",
    "context-collapse": "collapse",
    # Spring AI Session, Context Compaction
    "recursive-summarization": "recursive",
}


def canonical_name(name: str) -> str:
    """Return our name for an alias; any other name is returned unchanged."""
    return ALIASES.get(name, name)
