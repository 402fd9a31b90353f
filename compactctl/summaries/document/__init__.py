"""A hand-over document: its sections, templates, and what they are filled from."""
