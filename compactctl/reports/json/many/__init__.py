"""What is told of many transcripts, as JSON documents."""
