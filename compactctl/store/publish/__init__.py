"""Publishing a new state so that no crash and no error loses a line."""
