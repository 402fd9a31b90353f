"""One compaction: stages, layout, proof, archive."""
