"""Comparing policies: simulation and evaluation."""
