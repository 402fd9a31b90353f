"""Compactions by clients themselves: where they are, what they hide, and undone."""
