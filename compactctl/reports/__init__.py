"""Result values as something to look at: terminal, JSON, Parquet."""
