"""For authors of agent harnesses: prompts, chunks, file budgets, limits on tool output."""
