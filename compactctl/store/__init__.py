"""Everything that touches the disk: reading, locking, publishing, archives, the cache."""
