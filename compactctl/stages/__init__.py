"""Compaction stages: each looks at a conversation and proposes edits, or says why not."""
