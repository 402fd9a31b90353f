"""Digests: the lines of a conversation likely to be needed again, verbatim and in order."""
