"""Options that several commands share, from the command line to values."""
