"""Sessions of Spring AI Session: exported event records, and rows of its table."""
