"""Cheap reads of large files, folders and databases; unreadable ones become a warning."""
