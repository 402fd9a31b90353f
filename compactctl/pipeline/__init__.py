"""Stages in order, their edits applied, the new file laid out; and back. No I/O."""
