"""Models, stages, profiles and settings on a terminal."""
