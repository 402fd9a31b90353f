"""What is known of each client, in one folder each, and what they share."""
