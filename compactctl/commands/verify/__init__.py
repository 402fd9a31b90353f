"""Proof that every compaction can be undone, and repairs."""
