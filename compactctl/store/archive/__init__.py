"""Archives: one Parquet file per operation, in a folder beside the transcript."""
