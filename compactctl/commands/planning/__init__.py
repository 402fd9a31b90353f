"""Which stages run with which options, and running them over every conversation."""
