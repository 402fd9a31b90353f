"""Questions about a conversation that change nothing."""
