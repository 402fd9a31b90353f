"""A little of a large file, a folder or a database, read without ever failing for what is there."""
