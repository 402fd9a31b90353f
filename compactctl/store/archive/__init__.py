"""The archive: one Parquet file per operation, and the folder they lie in."""
