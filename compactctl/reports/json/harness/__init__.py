"""What authors of agent harnesses ask, as JSON documents."""
