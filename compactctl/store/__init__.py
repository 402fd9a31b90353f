"""Everything that touches the disk: reading, locking, publishing, and the archive."""
