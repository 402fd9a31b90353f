"""What was found out before, and can be found out again: never the only copy of anything."""
