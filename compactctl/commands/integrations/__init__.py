"""What clients run beside a session: hooks, a status line, a skill, MCP; and their installation."""
