"""What clients run beside a session, as they expect it, and on a terminal."""
