"""Known systems' ways to compact, as data, and what else is known of systems and providers."""
