"""Compaction stages: each looks at a view and proposes edits, or says why it proposes none."""
