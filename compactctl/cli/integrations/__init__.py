"""Commands that clients run beside a session, and the one that sets them up to."""
