"""Settings: which there are, where they come from, and what a project may set."""
