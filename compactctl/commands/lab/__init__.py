"""Comparing policies: simulation, evaluation, audit."""
