"""Results as rows of text."""
