"""See where an LLM agent's context went, compact its transcript, get every byte back."""

__version__ = "0.1.0"
