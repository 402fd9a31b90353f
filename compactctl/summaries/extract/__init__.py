"""What a conversation says: requests, decisions, files, errors, tasks, key lines."""
