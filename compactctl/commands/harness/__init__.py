"""What authors of agent harnesses ask before a request is sent."""
