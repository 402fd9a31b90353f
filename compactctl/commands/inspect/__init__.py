"""What a transcript holds and how it got there; read-only."""
