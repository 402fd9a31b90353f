"""Text that replaces earlier messages."""
