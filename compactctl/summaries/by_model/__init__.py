"""Summaries written by a model: prompts, checks of the answer."""
