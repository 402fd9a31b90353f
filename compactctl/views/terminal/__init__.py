"""Building blocks of terminal output: the screen, tables, safe text, progress."""
