"""Use cases: each returns a result value and prints nothing."""
