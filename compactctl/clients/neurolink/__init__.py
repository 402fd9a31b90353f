"""NeuroLink histories."""
