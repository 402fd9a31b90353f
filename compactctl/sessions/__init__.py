"""The session stores of clients: find sessions, describe them in a list, and fork them."""
