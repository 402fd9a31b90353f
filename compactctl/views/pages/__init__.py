"""Results as pages: one file each, which a browser opens from disk and which asks nobody."""
