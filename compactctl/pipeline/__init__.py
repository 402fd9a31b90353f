"""Runs stages, applies their edits, lays out the new file, and reverses it. No I/O."""
