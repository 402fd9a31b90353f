"""Transcript formats: one adapter each, from raw lines to messages and back."""
