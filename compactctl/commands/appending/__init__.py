"""Sessions that are changed by records behind what is there: when that works, and which."""
