"""The operations behind a transcript, in whatever layout they are kept."""
