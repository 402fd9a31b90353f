"""Questions about a conversation: turns, tool pairs, file reads, protection. Changes nothing."""
