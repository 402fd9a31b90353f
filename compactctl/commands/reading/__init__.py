"""From paths to transcripts."""
