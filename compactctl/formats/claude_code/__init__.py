"""Claude Code sessions."""
