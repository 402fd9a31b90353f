"""Text that stands for earlier messages."""
