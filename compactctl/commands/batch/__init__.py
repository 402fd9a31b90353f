"""Many transcripts, in worker processes, and what reports of them say together."""
