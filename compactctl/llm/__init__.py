"""Summaries written by programs outside of this one: a command, a server, a plugin."""
