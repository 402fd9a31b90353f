"""The session stores of clients: where they are, and what a list can show of a session."""
