"""What authors of agent harnesses ask, on a terminal."""
