"""From a path to a transcript, and which paths there are."""
