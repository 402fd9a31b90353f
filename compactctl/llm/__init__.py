"""Programs outside of this one: those that write summaries, and one that counts."""
