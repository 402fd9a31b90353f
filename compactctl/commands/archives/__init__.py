"""The archives of sessions in clients' stores: listed, and removed."""
