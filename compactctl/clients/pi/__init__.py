"""Sessions of pi and its relatives."""
