"""One file per client: its store, and how it would write a session under a new id."""
