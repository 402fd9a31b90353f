"""Sessions in the stores of clients: where they lie, and what can be told of one at a glance."""
