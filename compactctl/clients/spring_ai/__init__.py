"""Spring AI Session events."""
