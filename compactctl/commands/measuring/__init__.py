"""Context sizes: model, counter, window, and what no transcript holds."""
