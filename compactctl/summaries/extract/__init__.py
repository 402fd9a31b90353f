"""Facts extracted from a conversation: requests, decisions, plans, files, errors, tasks."""
