"""Results as self-contained HTML pages that load nothing."""
