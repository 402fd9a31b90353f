"""Results on a terminal, as JSON documents, pages and files."""
