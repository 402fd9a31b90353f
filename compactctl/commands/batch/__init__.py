"""Many transcripts in worker processes, and reports about them."""
