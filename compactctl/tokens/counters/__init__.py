"""Token counters, and which one measures a transcript."""
