"""A session whose context is full, made to go on."""
