"""What clients run beside a session, as JSON documents."""
