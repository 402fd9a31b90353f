"""Results as Parquet files."""
