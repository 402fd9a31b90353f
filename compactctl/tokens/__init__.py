"""How big things are: counters, windows and budgets."""
