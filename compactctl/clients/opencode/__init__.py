"""OpenCode sessions."""
