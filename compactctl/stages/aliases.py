"""Names that documents of other systems give to stages; a stage is reported as it was asked for."""

from collections.abc import Mapping

# The document's name -> ours.
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
    """Return our name for a stage, the name itself where no document has another."""
    return ALIASES.get(name, name)
