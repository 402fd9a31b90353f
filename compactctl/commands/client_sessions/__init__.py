"""Compactions by clients themselves, and sessions written for them: appended to, or new."""
