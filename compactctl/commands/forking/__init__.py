"""Sessions in clients' stores: written as new sessions, and kept from being copied there."""
