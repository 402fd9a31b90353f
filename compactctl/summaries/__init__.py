"""Text that stands for earlier messages, written without a model."""
