"""Results as something to look at: on a terminal, as documents, as pages and files."""
