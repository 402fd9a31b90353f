"""Compactions judged: what they lost, what they made up, what was looked at again."""
