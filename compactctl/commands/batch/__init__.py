"""Many transcripts, in worker processes."""
