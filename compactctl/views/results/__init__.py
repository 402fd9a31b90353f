"""One file per result, or per family of small ones, with every way to show it."""
