"""What an error of a provider says."""
