"""Commands for many transcripts at once."""
