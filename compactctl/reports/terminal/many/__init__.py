"""What is told of many transcripts, on a terminal."""
