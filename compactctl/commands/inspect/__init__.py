"""What a transcript holds and has been: nothing is written."""
