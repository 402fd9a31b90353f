"""One file per result, or per family of small ones: each with all the ways to show it."""
