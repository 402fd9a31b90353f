"""Sizes: counters, context windows, budgets."""
