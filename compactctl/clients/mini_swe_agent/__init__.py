"""mini-SWE-agent trajectories."""
