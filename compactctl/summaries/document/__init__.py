"""A hand-over document: its sections, templates, and the selection that fills it."""
