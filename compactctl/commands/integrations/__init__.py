"""What clients run beside a session, and how they are set up to: hooks, a status line, a skill."""
