"""What reports of batches say together, and against an earlier one."""
