"""Reading and writing files: lines, limits, locks, temporary files, system calls."""
