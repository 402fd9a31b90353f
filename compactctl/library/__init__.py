"""The Python API: the commands as functions, and one for lists of messages."""
