"""Stores of sessions: one file per client."""
