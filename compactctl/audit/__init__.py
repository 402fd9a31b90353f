"""What a compaction lost, and what it made up."""
