"""Restoring earlier states and single groups."""
