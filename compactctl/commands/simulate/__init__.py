"""Where triggers would have fired, and what would have been left."""
