"""Stages that put one text in place of older messages: a summary, or a digest of their lines."""
