"""The operations behind a transcript, in every layout."""
