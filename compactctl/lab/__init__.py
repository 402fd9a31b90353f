"""What a compaction lost, and how much of what a session needed later survives it."""
