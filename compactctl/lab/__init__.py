"""How much of what a session needed later survives a compaction."""
