"""Copilot CLI sessions."""
