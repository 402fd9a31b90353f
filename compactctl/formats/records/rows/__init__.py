"""Rows of logs: where the parts of a request stand in one, and which rows belong together."""
