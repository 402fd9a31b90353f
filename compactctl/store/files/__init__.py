"""Files read and written: lines, limits, locks, temporary files, system calls."""
