"""From raw lines to messages, shared by formats: decoding, containers, the transcript built."""
