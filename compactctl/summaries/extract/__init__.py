"""What a conversation says: requests, decisions, plans, files, errors, tasks, what is needed."""
