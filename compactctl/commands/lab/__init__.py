"""Policies tried and judged: simulated, evaluated, audited."""
