"""What reports are made with: screen, tables, safe text, JSON documents, progress."""
