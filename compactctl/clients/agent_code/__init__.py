"""agent-code sessions."""
