"""Commands for authors of agent harnesses."""
