"""Summaries that a model writes: prompts, answers, guards."""
