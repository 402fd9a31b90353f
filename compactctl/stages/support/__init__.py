"""Shared by stages: options, truncation, condensation, replacement, cutting."""
