"""Summaries written by a model: prompts, secrets, checks of the answer."""
