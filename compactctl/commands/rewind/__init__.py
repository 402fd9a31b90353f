"""Earlier states, and single groups, restored."""
