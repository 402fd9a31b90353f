"""One message: what it costs, what would become of it, what is tied to it."""
