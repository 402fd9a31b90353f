"""External programs and servers: those that write summaries, and one that counts tokens."""
