"""What survives a compaction, told by the session's own future."""
