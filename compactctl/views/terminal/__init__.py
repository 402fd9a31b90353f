"""What results on a terminal are made with: the screen, tables, safe text, progress."""
