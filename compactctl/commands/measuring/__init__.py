"""How big a context is: model, counter, window, and what no transcript holds."""
